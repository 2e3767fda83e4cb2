/** The files that a kubelet would mount into the first container of a pod from projected volumes: of root, readable by the group slurm. */
import { type Pod } from '@slurm-operator/kube';
import type { RootFile } from '@slurm-operator/sandbox';

/** ConfigMaps and Secrets by name, each key with its text. */
export type DataByName = Readonly<Record<string, Readonly<Record<string, string>>>>;

export function mountedFiles(pod: Pod, objects: DataByName): RootFile[] {
  const { volumes = [], containers = [] } = pod.spec ?? {};
  return (containers[0]?.volumeMounts ?? []).flatMap(({ name, mountPath }) => {
    const sources = volumes.find((volume) => volume.name === name)?.projected?.sources ?? [];
    const files = new Map<string, string>();
    for (const { configMap, secret } of sources) {
      const from = configMap ?? secret;
      const data = objects[from?.name ?? ''];
      if (data === undefined) throw new Error(`the pod mounts ${from?.name}, which the test does not have`);
      const items = from?.items ?? Object.keys(data).map((key) => ({ key, path: key }));
      for (const { key, path } of items) {
        const text = data[key];
        if (text === undefined)
          throw new Error(`the pod mounts key ${key} of ${from?.name}, which is missing`);
        files.set(path, text);
      }
    }
    return [...files].map(([path, content]) => ({
      path: `${mountPath}/${path}`,
      content,
      mode: path.endsWith('.key') ? 0o440 : 0o550,
      uid: 0,
      gid: 401,
    }));
  });
}
