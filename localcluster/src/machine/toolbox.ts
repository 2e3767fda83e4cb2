/** The programs a cluster is run with. All come from Debian packages, so nothing has to be installed on the machine. */
import { unpackTools } from '@slurm-operator/sandbox';

export interface Toolbox {
  readonly runc: string;
  readonly nft: string;
  readonly catatonit: string;
  readonly busybox: string;
  readonly unshare: string;
  readonly setpriv: string;
  /** An environment whose PATH begins with all of the above. */
  readonly env: NodeJS.ProcessEnv;
}

export async function openToolbox(progress?: (line: string) => void): Promise<Toolbox> {
  const tools = await unpackTools({
    packages: ['runc', 'nftables', 'catatonit', 'iproute2', 'busybox-static'],
    ...(progress === undefined ? {} : { progress }),
  });
  return {
    runc: tools.path('runc'),
    nft: tools.path('nft'),
    catatonit: tools.path('catatonit'),
    busybox: tools.path('busybox'),
    unshare: 'unshare',
    setpriv: 'setpriv',
    env: { ...process.env, PATH: `${tools.bin}:${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` },
  };
}

/** kubectl of Debian, fetched at the first use. */
export async function findKubectl(): Promise<string> {
  const tools = await unpackTools({ suite: 'trixie', packages: ['kubectl'] });
  return tools.path('kubectl');
}
