# Sourced by scripts/test and scripts/check: numbered steps with their times, and what to do about missing tools.
# shellcheck shell=bash

step_count=0
step_names=()
step_seconds=()
skipped=()

# step NAME COMMAND...: prints a header, runs the command, notes its time; the first failure ends the script.
step() {
    local name=$1 began=$SECONDS status
    shift
    step_count=$((step_count + 1))
    printf '\n=== %d. %s\n' "$step_count" "$name"
    # In a subshell of its own, since `set -e` sleeps within the condition of an `if`.
    set +e
    (
        set -e
        "$@"
    )
    status=$?
    set -e
    if ((status)); then
        printf '\n*** FAILED: %s (after %d s)\n' "$name" $((SECONDS - began)) >&2
        exit 1
    fi
    step_names+=("$name")
    step_seconds+=($((SECONDS - began)))
    printf -- '--- %s: %d s\n' "$name" $((SECONDS - began))
}

# missing WHAT: a step that cannot run. Skipped on a developer's machine, a failure under CI=true.
missing() {
    printf '\n!!! MISSING: %s\n' "$1" >&2
    if [[ ${CI:-} == true ]]; then
        printf '*** FAILED: nothing may be skipped under CI=true\n' >&2
        exit 1
    fi
    printf '!!! Tests that need it are SKIPPED.\n' >&2
    skipped+=("$1")
}

# finish: the closing table, and one clear last line.
finish() {
    local i
    printf '\n'
    for i in "${!step_names[@]}"; do
        printf '%6d s  %s\n' "${step_seconds[$i]}" "${step_names[$i]}"
    done
    printf '%6d s  in all\n\n' "$SECONDS"
    if ((${#skipped[@]})); then
        printf 'passed, BUT SKIPPED for want of: %s\n' "$(printf '%s; ' "${skipped[@]}")"
    else
        printf 'all passed\n'
    fi
}
