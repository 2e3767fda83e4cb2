import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cgroupLayout, oomKills } from './cgroup-layout.ts';

const v1 = `tmpfs /sys/fs/cgroup tmpfs rw,relatime,mode=755 0 0
cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,relatime,cpu,cpuacct 0 0
cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0
cgroup /sys/fs/cgroup/systemd cgroup rw,relatime,xattr,name=systemd 0 0
`;
const v2 = 'cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nodev,noexec,relatime,nsdelegate 0 0\n';
const path = '/localcluster-x/node/pod/c';

test('one hierarchy in the usual place is version 2', () => {
  const layout = cgroupLayout(`proc /proc proc rw 0 0\n${v2}`);
  assert.equal(layout.version, 2);
  assert.deepEqual(layout.roots, ['/sys/fs/cgroup']);
  assert.equal(layout.oomFile(path), '/sys/fs/cgroup/localcluster-x/node/pod/c/memory.events');
});

test('a directory per controller is version 1, also when the other hierarchy is mounted beside them', () => {
  const hybrid = `${v1}cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n`;
  const ofV1 = ['/sys/fs/cgroup/cpu,cpuacct', '/sys/fs/cgroup/memory', '/sys/fs/cgroup/systemd'];
  for (const [mounts, roots] of [
    [v1, ofV1],
    [hybrid, [...ofV1, '/sys/fs/cgroup/unified']],
  ] as const) {
    const layout = cgroupLayout(mounts);
    assert.equal(layout.version, 1);
    assert.deepEqual(layout.roots, roots, 'a container has a group in each of them');
    assert.equal(layout.oomFile(path), '/sys/fs/cgroup/memory/localcluster-x/node/pod/c/memory.oom_control');
  }
});

test('without the memory controller nothing is counted; without any control group it throws', () => {
  const layout = cgroupLayout('cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n');
  assert.equal(layout.oomFile(path), undefined);
  assert.throws(() => cgroupLayout('proc /proc proc rw 0 0\n'), /no control groups are mounted below/);
});

test('kills for lack of memory are counted alike in both versions', () => {
  assert.equal(oomKills('oom_kill_disable 0\nunder_oom 0\noom_kill 3\n'), 3);
  assert.equal(oomKills('low 0\nhigh 0\nmax 12\noom 2\noom_kill 2\noom_group_kill 0\n'), 2);
  assert.equal(oomKills(''), 0);
});
