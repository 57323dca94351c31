"""What secrets look like: forms of well-known tokens, and values that stand behind a telling name.

The forms are facts about tokens, restated from the rules of gitleaks (github.com/gitleaks/gitleaks,
`config/gitleaks.toml` at 009e025a, MIT), a secret scanner with a long list of them; where a provider documents its
form, that says the same. A form needs no context. What has no form of its own, such as a password, is told by the name
before it, by how random it looks, or by its place in an address or a header.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import log2


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """How one kind of secret is written.

    Attributes:
        kind: what stands in its placeholder.
        hints: texts without any of these hold no such secret; looking for them costs next to nothing.
        pattern: the secret is its group 1, or all of it where it has no group.
    """

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]


def _form(kind: str, hints: str, pattern: str) -> Form:
    # Nothing before it that could belong to it: so that each run of letters is tried once, and time stays linear. What
    # looks like a letter may be the end of an escape, since recordings hold JSON inside JSON.
    return Form(kind, tuple(hints.split()), re.compile(rf"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))(?:{pattern})"))


_GAP = r"(?:[\s\"',|>→\d]|\\+[nrt]){0,24}"
"""What stands between the lines of a key: a line's end as it is or escaped, quotes, a viewer's line number."""

FORMS = (
    _form(
        "private-key", "PRIVATE",
        rf"-----BEGIN[ A-Z0-9_-]{{0,100}}PRIVATE KEY(?: BLOCK)?-----"
        rf"((?:{_GAP}(?:[A-Z][A-Za-z-]{{2,20}}: [^\n\\]{{1,90}}|[A-Za-z0-9+/=]{{16,4000}}))+"
        rf"(?:{_GAP}[A-Za-z0-9+/=]{{1,64}}(?={_GAP}-----END))?)",
    ),
    _form("aws-key", "AKIA ASIA ABIA ACCA A3T", r"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _form("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,251}"),
    _form("github-token", "github_pat_", r"github_pat_\w{36,244}"),
    _form("gitlab-token", "glpat- glptt- gldt- glrt- glcbt- glagent- gloas- glft- glimt- glsoat- glffct-",
          r"gl(?:pat|ptt|dt|rt|cbt|agent|oas|ft|imt|soat|ffct)-[\w.-]{20,300}"),
    _form("anthropic-key", "sk-ant-", r"sk-ant-[a-z]{2,12}\d{2}-[\w-]{32,200}"),
    _form("openai-key", "sk-", r"sk-(?:proj|svcacct|admin|None|or-v1|lf)-[\w-]{32,250}|sk-[A-Za-z0-9]{32,64}"),
    _form("langfuse-key", "sk-lf- pk-lf-", r"[sp]k-lf-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"),
    _form("huggingface-token", "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z]{34}(?![A-Za-z0-9])"),
    _form("google-key", "AIza", r"AIza[\w-]{35}"),
    _form("google-secret", "GOCSPX-", r"GOCSPX-[\w-]{28}"),
    _form("google-token", "ya29.", r"ya29\.[\w-]{30,500}"),
    _form("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{40,64}"),
    _form("xai-key", "xai-", r"xai-[A-Za-z0-9]{60,90}"),
    _form("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{48}"),
    _form("replicate-token", "r8_", r"r8_[A-Za-z0-9]{37}"),
    _form("slack-token", "xoxb xoxp xoxe xoxa xoxr xoxo xoxs", r"xox[bpearos](?:\.xox[bp])?-[A-Za-z0-9-]{10,200}"),
    _form("slack-token", "xapp-", r"xapp-\d-[A-Za-z0-9]+-\d+-[A-Za-z0-9]+"),
    _form("slack-webhook", "hooks.slack.com",
          r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/_]{30,80})"),
    _form("discord-webhook", "/api/webhooks/", r"api/webhooks/(\d{15,21}/[\w-]{50,90})"),
    _form("discord-token", "discord Discord DISCORD",
          r"[MNO][A-Za-z\d_-]{23,27}\.[A-Za-z\d_-]{6}\.[A-Za-z\d_-]{27,38}(?![\w-])"),
    _form("teams-webhook", "webhook.office.com", r"webhookb2/([\w@-]{40,110}/IncomingWebhook/[\w/-]{40,110})"),
    _form("telegram-token", ":AA", r"\d{8,10}:AA[\w-]{32,34}(?![\w-])"),
    _form("stripe-key", "_test_ _live_ _prod_", r"(?:sk|rk|whsec)_(?:test|live|prod)_[A-Za-z0-9]{10,250}"),
    _form("stripe-secret", "whsec_", r"whsec_[A-Za-z0-9+/]{24,64}"),
    _form("square-token", "sq0atp- sq0csp- EAAA", r"(?:sq0atp-|sq0csp-|EAAA)[\w-]{22,60}(?![\w-])"),
    _form("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    _form("sendgrid-key", "SG.", r"SG\.[\w-]{16,32}\.[\w-]{32,64}"),
    _form("brevo-key", "xkeysib-", r"xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    _form("mailgun-key", "key-", r"key-[a-f0-9]{32}(?![a-z0-9])"),
    _form("mailchimp-key", "-us", r"[a-f0-9]{32}-us\d{1,2}(?!\d)"),
    _form("twilio-key", "SK AC", r"(?:SK|AC)[0-9a-f]{32}(?![0-9A-Za-z])"),
    _form("npm-token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    _form("pypi-token", "pypi-AgE", r"pypi-AgE[\w-]{50,1000}"),
    _form("rubygems-key", "rubygems_", r"rubygems_[a-f0-9]{48}"),
    _form("docker-token", "dckr_pat_ dckr_oat_", r"dckr_[po]at_[\w-]{24,64}"),
    _form("digitalocean-token", "doo_v1_ dop_v1_ dor_v1_", r"do[opr]_v1_[a-f0-9]{64}"),
    _form("heroku-key", "HRKU-", r"HRKU-[\w-]{36,80}"),
    _form("flyio-token", "fo1_ fm1 fm2_", r"(?:fo1_[\w-]{43}|fm(?:1[ar]|2)_[A-Za-z0-9+/]{100,1000}={0,3})"),
    _form("databricks-token", "dapi", r"dapi[a-f0-9]{32}(?:-\d)?(?![a-z0-9])"),
    _form("grafana-token", "glsa_ glc_",
          r"glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|glc_[A-Za-z0-9+/]{32,400}={0,3}"),
    _form("sentry-token", "sntrys_ sntryu_", r"sntry(?:u_[a-f0-9]{64}|s_[\w+/=-]{40,500})"),
    _form("newrelic-key", "NRAK- NRJS- NRII-", r"NR(?:AK|JS|II)-[A-Za-z0-9-]{19,32}"),
    _form("linear-key", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{40,64}"),
    _form("notion-token", "ntn_", r"ntn_[0-9]{11}[A-Za-z0-9]{35}"),
    _form("airtable-token", "airtable Airtable AIRTABLE", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    _form("atlassian-token", "ATATT3", r"ATATT3[\w=-]{60,250}"),
    _form("postman-key", "PMAK-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    _form("planetscale-token", "pscale_", r"pscale_(?:tkn|oauth|pw)_[\w=.-]{32,64}"),
    _form("supabase-key", "sbp_ sb_secret_", r"(?:sbp_[a-f0-9]{40}|sb_secret_[\w-]{20,64})"),
    _form("pulumi-token", "pul-", r"pul-[a-f0-9]{40}"),
    _form("terraform-token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70}"),
    _form("vault-token", "hvs. hvb.", r"hv[sb]\.[\w-]{24,300}"),
    _form("doppler-token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{1,60}\.)?[A-Za-z0-9]{40,44}"),
    _form("dynatrace-token", "dt0c01.", r"dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    _form("onepassword-key", "A3- ops_eyJ",
          r"A3-(?:[A-Z0-9]{5,11}-){4,5}[A-Z0-9]{5}|ops_eyJ[A-Za-z0-9+/]{250,3000}={0,3}"),
    _form("age-key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    _form("alibaba-key", "LTAI", r"LTAI[A-Za-z0-9]{20}(?![A-Za-z0-9])"),
    _form("azure-secret", "Q~", r"[\w~.]{3}\dQ~[\w~.-]{31,34}"),
    _form("artifactory-key", "AKCp cmVmd", r"(?:AKCp[A-Za-z0-9]{69}|cmVmd[A-Za-z0-9]{59})"),
    _form("jwt", "eyJ", r"(?<!-)eyJ[\w-]{8,8000}\.eyJ[\w-]{8,8000}\.[\w-]{8,2000}"),
)  # fmt: skip
"""Secrets that are told by their form alone."""

HINTS = tuple((hint, form) for form in FORMS for hint in form.hints)
"""Each hint with its form."""

_WORDS = ("password", "passwd", "passphrase", "passcode", "pwd", "secret", "token", "credential", "credentials", "key")
"""How a telling name ends; a key tells only with one of the words of `_KEY` before it."""
_KEY = re.compile(
    r"(?:api|access|account|auth|client|encryption|license|master|private|secret|service|shared|signing|storage)[_-]?$"
)
_IS_PASSWORD = re.compile(r"pass|pwd", re.IGNORECASE)
_BARE = r"[A-Za-z0-9_.~+/=!@#%^&*?$-]"
_VALUE = re.compile(
    r"(?i:[_-](?:base|value|dev|test|prod|staging))?[\"'\]\\*]{0,4}"
    r"(?:[ \t]{0,3}(?:=>|:=|={1,3}|:)|>|[ \t]is(?=[ \t]))[*]{0,2}[ \t]{0,3}"
    rf"(?:\\{{0,3}}([\"'`])([^\"'`\\\s<>{{}}]{{4,400}})(?=\\{{0,3}}\1)|({_BARE}{{6,400}})(?![\w(\[{{]))"
)
_OPTION = re.compile(rf"[ \t]{{1,3}}([\"']?)({_BARE}{{6,400}})(?![\w(\[{{])")
_FLAG = re.compile(r"--(?:[a-z]+-){0,3}$")
_HEADER = re.compile(r"(?:bearer|basic)[ \t]{1,3}([A-Za-z0-9._~+/=-]{16,4000})", re.IGNORECASE)
_ADDRESS = re.compile(r"://[^\s:/@\"'<>]{0,64}:([^\s/@\"'<>]{3,200})@")
_CURL_USER = re.compile(r"(?:-u|--user)[ =]{1,3}[\"']?[\w.@-]{1,64}:([^\s\"']{4,200})")
_NO_VALUE = re.compile(
    r"\$|%[({A-Za-z_]|[*.x_-]+$|redacted|your|my[_-]|example|changeme|placeholder|dummy|(?:true|false|null|none|nil"
    r"|undefined|string|number|boolean|str|int|optional|required|process|environ|env|os|self|this|config|settings"
    r"|options|request|req|user|data|args|params)(?:$|[^A-Za-z0-9])",
    re.IGNORECASE,
)
_FOLDER = re.compile(r"~?/|[A-Za-z]:[\\/]|\.\.?/")
_MEMBER = re.compile(r"[A-Za-z_]\w*(?:\??\.[A-Za-z_]\w*)+")
_RANDOM, _LONG = 3.5, 16
"""Bits a character and characters from which on a value behind a name such as `token` counts as one: as gitleaks."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a secret stands in a text (half-open), and of which kind it is."""

    start: int
    stop: int
    kind: str


def in_context(text: str) -> Iterator[Place]:
    """The secrets that only their surroundings give away, in no order; some may overlap."""
    yield from _named(text)
    if "earer" in text or "asic" in text or "BEARER" in text:
        for found in _HEADER.finditer(text):
            if _is_random(found.group(1)):
                yield Place(*found.span(1), "token")
    for pattern, hint in ((_ADDRESS, "://"), (_CURL_USER, "curl")):
        for found in pattern.finditer(text) if hint in text else ():
            if not _NO_VALUE.match(found.group(1)):
                yield Place(*found.span(1), "password")


def _named(text: str) -> Iterator[Place]:
    """The values behind telling names. The names are searched for as plain text, which is far faster than a pattern."""
    lower = text.lower()
    if len(lower) != len(text):  # a few letters of other alphabets become two
        lower = "".join(char.lower() if char.isascii() else char for char in text)
    for word in _WORDS:
        stop = 0
        while (start := lower.find(word, stop)) >= 0:
            stop = start + len(word)
            if found := _after(text, start, stop):
                group = found.lastindex or 0
                if _tells(word, lower[max(0, start - 12) : start]) and _is_value(word, found[group], group == 2):
                    yield Place(*found.span(group), kind_of(word))


def is_named_secret(name: str, value: str) -> bool:
    """Whether a value under this name, in an object or a tool's arguments, is a secret."""
    lower = name.lower()
    word = next((word for word in _WORDS if lower.endswith(word)), "")
    return bool(word) and _tells(word, lower[: -len(word)]) and _whole(value) and _is_value(word, value, True)


def _whole(value: str) -> bool:
    return len(value) >= 4 and not any(char.isspace() for char in value)


def _tells(word: str, before: str) -> bool:
    return word != "key" or _KEY.search(before) is not None


def _after(text: str, start: int, stop: int) -> re.Match[str] | None:
    """The value behind the name that ends with `text[start:stop]`: group 2 in quotation marks, group 3 bare."""
    found = _VALUE.match(text, stop)
    if found is None and text[stop : stop + 1] in (" ", "\t") and _FLAG.search(text, max(0, start - 40), start):
        return _OPTION.match(text, stop)
    return found


def kind_of(name: str) -> str:
    """What the placeholder of a value under this name says it was."""
    return "password" if _IS_PASSWORD.search(name) else "secret"


def stands_out(value: str) -> bool:
    """Whether a value is unlike any word, so that it is the same secret wherever it stands."""
    return len(value) >= 8 and any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def _is_value(name: str, value: str, quoted: bool) -> bool:
    if _NO_VALUE.match(value) or _MEMBER.fullmatch(value):
        return False
    if not _IS_PASSWORD.search(name):
        return _is_random(value)
    if _FOLDER.match(value):  # `pwd` is a folder as well
        return False
    if quoted:
        return value.lower() not in _WORDS
    return stands_out(value) and "/" not in value


def _is_random(value: str) -> bool:
    return len(value) >= _LONG and stands_out(value) and _bits(value) >= _RANDOM


def _bits(value: str) -> float:
    """Shannon's entropy, bits a character."""
    n = len(value)
    return -sum(count / n * log2(count / n) for count in Counter(value).values())
