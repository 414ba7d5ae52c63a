# Python virtual environments with a real torch, for the interop tests; sourced after lib.sh.
# shellcheck shell=bash

VENV_PACKAGES=(python3 python3-venv)
FRAMEWORK_PACKAGES=(lightning==2.6.6 accelerate==1.15.0 pytorch-ignite==0.5.5 safetensors numpy zstandard)

# venv_folder TORCH_VERSION: where the environment for it is kept.
venv_folder() {
  printf '%s/fsdpckpt/interop-%s' "${XDG_CACHE_HOME:-$HOME/.cache}" "$1"
}

# make_venv FOLDER REQUIREMENT...: makes the environment, or keeps the one that was made of the same
# requirements and still imports torch.
make_venv() {
  local folder=$1
  shift
  local wanted="$*" stamp=$folder/requirements.txt
  if [[ -f $stamp && $(<"$stamp") == "$wanted" ]] && "$folder/bin/python" -c 'import torch, numpy, safetensors' 2>/dev/null; then
    return 0
  fi
  local index=()
  [[ -z ${TORCH_INDEX_URL:-} ]] || index=(--index-url "$TORCH_INDEX_URL")
  rm -rf "$folder"
  mkdir -p "${folder%/*}"
  run "${PYTHON:-python3}" -m venv "$folder"
  if [[ ${#index[@]} != 0 ]]; then
    # That index has torch and its dependencies; the frameworks come from the default one.
    run "$folder/bin/pip" install -q "${index[@]}" "$1"
  fi
  run "$folder/bin/pip" install -q "$@"
  printf '%s' "$wanted" >"$stamp"
}
