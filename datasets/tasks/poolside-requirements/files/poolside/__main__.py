import sys

from poolside.cli import main

sys.exit(main(sys.argv[1:]))
