# tools/try.sh PLAN [arguments of kiln.sync]: starts the fake hub with a plan, syncs, shows the hub's log, stops it.
rm -f port hub.log
python tools/fake_hub.py "$1" port 2> hub.err &
hub=$!
while [ ! -s port ]; do sleep 0.1; done
shift
python -m kiln.sync "http://127.0.0.1:$(cat port)" "$@" 2>&1 | sed "s/:$(cat port)/:PORT/"
echo "--- hub.log"
cat hub.log
kill $hub
