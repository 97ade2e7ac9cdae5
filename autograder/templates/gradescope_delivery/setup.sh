#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image of the autograder.
set -euo pipefail
command -v python3 > /dev/null && exit 0
export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install -y --no-install-recommends python3
