"""The engine alone keeps a long conversation within its window: run by `.ci/run` where only the
base is installed.
"""

import sys

import workbench as wb

WINDOW = 4_000

compactor = wb.Compactor("summarize", model="extractive", window=WINDOW)
messages: list[dict[str, str]] = [{"role": "system", "content": "You fix bugs."}]
for turn in range(80):
    question = f"What is TIMEOUT_{turn} in src/part_{turn}.py? " + "Look it up. " * 20
    messages.append({"role": "user", "content": question})
    sent = compactor.before_request(messages)
    messages.append(
        {"role": "assistant", "content": f"TIMEOUT_{turn} is {turn * 13} in src/part_{turn}.py."}
    )

heavy = {"litellm", "pandas", "pyarrow", "scipy", "matplotlib", "IPython"} & set(sys.modules)
assert not heavy, f"the engine loaded {heavy}"
assert len(sent) < len(messages) / 2 and "summary" in str(sent).lower(), "nothing was compacted"
print(f"{len(messages)} messages, {len(sent)} sent")
