# Reads options of a daemon as people write them for a shell, without a shell ever evaluating them: quotes and
# backslashes group words, and nothing else has a meaning. Sourced by the entrypoints.

# words NAME TEXT: appends the words of TEXT to the array NAME.
words() {
  local -n _words_into=$1
  local parsed=()
  # xargs splits like a shell but expands nothing; NUL ends each word.
  mapfile -d '' -t parsed < <(printf '%s' "$2" | xargs -r printf '%s\0' 2>/dev/null)
  if ! wait "$!"; then
    echo "cannot read the options: $2 (a quote without its partner?)" >&2
    exit 64
  fi
  _words_into+=("${parsed[@]}")
}

# arguments NAME ARGS...: appends arguments of the container. One without quotes is taken as it is; one that holds
# quotes was written for a shell, and its quotes are taken off.
arguments() {
  local -n _arguments_into=$1
  local name=$1 argument
  shift
  for argument in "$@"; do
    case $argument in
      *[\'\"]*) words "$name" "$argument" ;;
      *) _arguments_into+=("$argument") ;;
    esac
  done
}
