#!/bin/sh
# with_python.sh PYTHON SCRIPT...: runs the script, or says that it is skipped (77) where that Python has not been made.
if [ ! -x "$1" ]; then
  echo "skipped: no $1; third_party/setup.sh --tests makes build/venv, -DQFOLD_PYTHON names another"
  exit 77
fi
export PYTHONDONTWRITEBYTECODE=1 TORCH_CPP_LOG_LEVEL=ERROR
exec "$@"
