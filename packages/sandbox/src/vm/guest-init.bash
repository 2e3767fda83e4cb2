#!/bin/bash
# The first process of a virtual machine: mounts what a Linux system has, with cgroup2 as the only cgroup hierarchy, then runs
# the commands that arrive on the second serial line. One line per command: an id, a time limit in seconds and a bash script in
# base64. One line per answer: the id, the exit code, standard output and standard error in base64. Commands run side by side.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8

if [[ ${1:-} != moved ]]; then
  # Container runtimes cannot pivot away from the kernel's first root file system, so a bind mount of it becomes the root.
  mount --bind / /mnt
  cd /mnt
  mount --move . /
  exec chroot . /init moved
fi

mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/pts /dev/shm /dev/mqueue
ln -s /proc/self/fd /dev/fd
ln -s fd/0 /dev/stdin
ln -s fd/1 /dev/stdout
ln -s fd/2 /dev/stderr
mount -t devpts devpts /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t tmpfs -o mode=755 run /run
mount -t tmpfs -o mode=1777 tmp /tmp
mount -t cgroup2 -o nsdelegate cgroup2 /sys/fs/cgroup
for controller in $(</sys/fs/cgroup/cgroup.controllers); do
  echo "+$controller" >/sys/fs/cgroup/cgroup.subtree_control
done
while read -r module; do insmod "$module"; done </etc/vm-modules
ip link set lo up
hostname vm

line=/dev/ttyS1
stty -F $line raw -echo
exec {commands}<$line {answers}>$line

answer() {
  local id=$1 limit=$2 script=$3 out err file code=0
  out=$(mktemp) err=$(mktemp) file=$(mktemp)
  base64 -d <<<"$script" >"$file"
  timeout --kill-after=2 "$limit" bash "$file" </dev/null >"$out" 2>"$err" {commands}<&- {answers}>&- || code=$?
  {
    flock 9
    printf '@%s %s %s %s\n' "$id" "$code" "$(base64 -w0 "$out")" "$(base64 -w0 "$err")" >&"$answers"
  } 9>/run/answers.lock
  rm -f "$out" "$err" "$file"
}

printf '@ready %s\n' "$(cut -d' ' -f1 /proc/uptime)" >&"$answers"
while read -r -u "$commands" id limit script; do
  answer "$id" "$limit" "$script" &
done
echo "the command line was closed: powering off"
poweroff -f || echo o >/proc/sysrq-trigger
