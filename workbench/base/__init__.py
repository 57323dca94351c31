"""What every floor may use and what uses none of them: errors, names of parts, numbers and
templates for readers.

- `errors`: what a user is told, in a sentence. Every exception that this package means to raise is
  one of these.
- `registry`: finds a part by its name, the built-in ones and those of installed packages, and what
  a floor adds to the floors below it (its `extensions.py`).
- `package`: where the package and its data lie.
- `formats`, `palette`, `markup` with `templates`: numbers, colours and pages for people.
- `private_files`, `ragged`, `typed_value`: files that only their owner reads, columns of lists,
  values of settings.

Start with `errors.py`.
"""
