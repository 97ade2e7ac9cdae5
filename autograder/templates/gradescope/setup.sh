#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image of the autograder.
set -euo pipefail
root="${AUTOGRADER_ROOT:-/autograder}"
source="$root/source"

# Prints a Python that is new enough and can make environments; nothing if there is none.
find_python() {
    local name
    for name in python3 python3.14 python3.13 python3.12 python3.11; do
        if "$name" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; then
            command -v "$name"
            return
        fi
    done
}

installed() {
    [ -n "$(find_python)" ] && command -v setpriv > /dev/null && ldconfig -p | grep -q 'libseccomp\.so\.2'
}

# Nothing is downloaded for what the image has already.
if ! installed; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update
    apt-get install -y --no-install-recommends libseccomp2 util-linux python3 python3-venv
    # The python3 of older images is too old; some of them have a newer one beside it.
    [ -n "$(find_python)" ] || apt-get install -y --no-install-recommends python3.12 python3.12-venv \
        || apt-get install -y --no-install-recommends python3.11 python3.11-venv || true
fi
python="$(find_python)"
if [ -z "$python" ]; then
    echo "This image has no Python 3.11 or later: choose a newer Ubuntu in the settings of the autograder." >&2
    exit 1
fi

"$python" -m venv --clear "$root/venv"
"$root/venv/bin/python" -m pip install --quiet --no-input --no-cache-dir --disable-pip-version-check \
    --requirement "$source/requirements.txt" --constraint "$source/constraints.txt"

# Student code has another user id, which reads Python and nothing of the bundle.
chmod go+x "$root"
chmod -R u+rwX,go-rwx "$source"
chmod -R go+rX "$root/venv"

# Prepares what every submission would prepare again, and says what stands around student code here.
export PYTHONPATH="$source/kit" PYTHONNOUSERSITE=1 JUPYTER_NO_CONFIG=1 XDG_CACHE_HOME="$source/cache" LC_ALL=C.UTF-8
"$root/venv/bin/python" -P -m compileall -q "$source/kit" || true
"$root/venv/bin/python" -P -m autograder.commands.gradescope --prepare "$root"
