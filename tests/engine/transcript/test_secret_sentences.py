"""A secret that a sentence names, or that a program prints below its announcement, is masked."""

import pytest

from workbench.engine.transcript.redaction import Redactor

PASSWORD = "Herbst-Laub2023"
TOKEN = "FeIW2XVOavOMEqKLlxFtgrlszab0tJs8YNjXqeP0"


@pytest.mark.parametrize(
    "text",
    [
        f"the password of the printer is {PASSWORD}.",
        f"Das Passwort für den Testserver lautet {PASSWORD}, bitte",
        f"La contraseña de la base es {PASSWORD} y ya",
        f"le mot de passe du compte admin est « {PASSWORD} ».",
        f"log in with password **{PASSWORD}**",
        f"I set the root password to `{PASSWORD}`",
        f"$ pass show work/db\n{PASSWORD}\nlogin: eva\n",
        f"the admin password:\n{PASSWORD}\n",
        f"> what is the password of the printer?\n{PASSWORD}",
        f"**Datenbankpasswort:**\n```\n{PASSWORD}\n```",
        f"> console.log(process.env.MAIL_PASSWORD)\n'{PASSWORD}'\nundefined",
        f"das Kennwort der Kasse ist leider immer noch {PASSWORD}, sorry",
        f"Benutzer kasse, Passwort {PASSWORD} - bitte vorher anrufen",
        f"服务器密码是 {PASSWORD},用户名 ops",
        f"パスワードは「{PASSWORD}」です。",
    ],
)
def test_a_password_of_a_sentence_is_masked(text: str) -> None:
    assert PASSWORD not in Redactor().mask(text)


@pytest.mark.parametrize(
    ("text", "password"),
    [
        ("the root password on this box is quiet-otter-4 btw", "quiet-otter-4"),
        ("kennwort leise.Welle (kleines l)", "leise.Welle"),
        ("mot de passe Genet-jaune4. Merci", "Genet-jaune4"),
        ("hasło do bazy to Sosna.pod.lasem2 od dziś", "Sosna.pod.lasem2"),
    ],
)
def test_a_password_of_words_is_masked_where_it_is_announced(text: str, password: str) -> None:
    assert password not in Redactor().mask(text)


@pytest.mark.parametrize(
    "text",
    [
        f"Your new access token. Copy it now:\n\n    {TOKEN}\n",
        f"$ gcloud auth print-access-token\n{TOKEN}\n",
        f"the token you need is {TOKEN} , it ends on friday",
    ],
)
def test_a_printed_token_is_masked(text: str) -> None:
    assert TOKEN not in Redactor().mask(text)


@pytest.mark.parametrize(
    "text",
    [
        "the password is hashed with SHA-256 and is stored in users.password2",
        "the token is base64 encoded, see RFC7519",
        "password must be at least 8characters",
        'the password is "eyJhbGciOiJIUzI1NiIs..." here',
        "$ git log --grep password\n3f786850e387550fdab836ed7e6dc881de23001b\n",
        "get your new API key at the dashboard`));\n    process.exit(1);\n",
        "passRate: `${evalSummary.passRate.toFixed(0)}%`,",
        "a key in hexadecimal representation, or hexadecimal characters only",
        "$ ls secrets\ntoken-2024.json\n",
        "This is the new key\n- src/components/KeyList2.tsx\n",
        "the password field is `password1_input`",
        "the password is stored in backup.tar.gz and config2.json",
        "Das Passwort ist in der Datei settings.yml",
        "パスワードは8文字以上で入力してください",
        "this password Requirement2 comes from the ticket",
    ],
)
def test_a_sentence_about_secrets_stays(text: str) -> None:
    assert Redactor("", frozenset()).mask(text) == text


@pytest.mark.parametrize(
    ("text", "password"),
    [
        ("my login is ina and the password's meadowlark-7-brook, thanks", "meadowlark-7-brook"),
        ("pw for the archive: gannet_ledge52", "gannet_ledge52"),
        ("the password is geitost-og-brød, do not tell", "geitost-og-brød"),
        ("Lösenordet till skrivaren är RödaVantar8 om du vill", "RödaVantar8"),
        ("Ho messo la password dell'utente in Gondola31Rossa, riprova", "Gondola31Rossa"),
        ("Yazıcının şifresi Lodos.Vapur52 olarak değişti", "Lodos.Vapur52"),
        ("пароль принтера Lypa_3318, не кажи", "Lypa_3318"),
        ("contraseña del wifi es puenteRojo_3 y la del router Canal.Verde8", "Canal.Verde8"),
    ],
)
def test_a_password_is_told_in_many_ways(text: str, password: str) -> None:
    assert password not in Redactor("", frozenset()).mask(text)
