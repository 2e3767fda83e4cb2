# Reads options of a daemon as people write them for a shell, without a shell ever evaluating them: quotes and
# backslashes group words, and nothing else has a meaning. Sourced by the entrypoints.

# words NAME TEXT: appends the words of TEXT to the array NAME.
words() {
  local -n into=$1
  local parsed=()
  # xargs splits like a shell but expands nothing; NUL ends each word.
  if ! mapfile -d '' -t parsed < <(printf '%s' "$2" | xargs -r printf '%s\0' || printf 'broken\0\0'); then
    return 1
  fi
  if [[ ${#parsed[@]} -ge 2 && ${parsed[-1]} == '' && ${parsed[-2]} == broken ]]; then
    echo "cannot read the options: $2 (a quote without its partner?)" >&2
    exit 64
  fi
  into+=("${parsed[@]}")
}

# arguments NAME ARGS...: appends arguments of the container. One without quotes is taken as it is; one that holds
# quotes was written for a shell, and its quotes are taken off.
arguments() {
  local name=$1 argument
  shift
  for argument in "$@"; do
    case $argument in
      *[\'\"]*) words "$name" "$argument" ;;
      *) local -n list=$name; list+=("$argument"); unset -n list ;;
    esac
  done
}
