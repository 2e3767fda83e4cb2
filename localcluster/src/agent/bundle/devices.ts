/** The device files every container sees, and the cgroup rules that let it use them. */
const character = (path: string, major: number, minor: number) => ({
  path,
  type: 'c',
  major,
  minor,
  fileMode: 0o666,
  uid: 0,
  gid: 0,
});

export const defaultDevices = [
  character('/dev/null', 1, 3),
  character('/dev/zero', 1, 5),
  character('/dev/full', 1, 7),
  character('/dev/random', 1, 8),
  character('/dev/urandom', 1, 9),
  character('/dev/tty', 5, 0),
];

export function deviceRules(privileged: boolean) {
  if (privileged) return [{ allow: true, access: 'rwm' }];
  const rule = (major: number, minor?: number) => ({
    allow: true,
    type: 'c',
    major,
    ...(minor === undefined ? {} : { minor }),
    access: 'rwm',
  });
  return [
    { allow: false, access: 'rwm' },
    { allow: true, type: 'c', access: 'm' },
    { allow: true, type: 'b', access: 'm' },
    ...defaultDevices.map(({ major, minor }) => rule(major, minor)),
    rule(136), // pseudo terminals
    rule(5, 2), // /dev/ptmx
  ];
}
