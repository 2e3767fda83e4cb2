/** `node tools/targets/prepare.ts NAME`: fetches and builds one of the preparations, or finds that all of it is there. */
import './end-with-parent.ts';
import { findHelm } from '@slurm-operator/charts';
import {
  buildImage,
  buildOperatorImage,
  type ImageName,
  recipes,
  slurmVersions,
} from '@slurm-operator/images';
import { explain } from '@slurm-operator/localcluster';
import { unpackTools } from '@slurm-operator/sandbox';
import { slurmRootfs } from '@slurm-operator/slurm/testing';
import { type Preparation, preparations } from './preparations.ts';

const progress = (line: string) => console.log(line);
const images = Object.keys(recipes) as ImageName[];
const isSlurm = (name: ImageName) => recipes[name].versions.some((version) => version === slurmVersions[0]);

const steps: Readonly<Record<Preparation, () => Promise<unknown>>> = {
  helm: () => findHelm({ progress }),
  // As the sandbox, the local cluster, its images for tests and its kubectl ask for them.
  tools: async () => {
    await unpackTools({ packages: ['busybox-static'], progress });
    await unpackTools({
      packages: ['runc', 'nftables', 'catatonit', 'iproute2', 'busybox-static'],
      progress,
    });
    for (const program of ['skopeo', 'docker-registry']) await unpackTools({ packages: [program], progress });
    await unpackTools({ suite: 'trixie', packages: ['kubectl'], progress });
    await unpackTools({ suite: 'forky', packages: ['kubectl'], progress });
    // promtool, with which tests evaluate the alerts.
    await unpackTools({ suite: 'trixie', packages: ['prometheus'], progress });
  },
  'images-26.05': async () => {
    for (const name of images) await buildImage(name, undefined, { progress });
    await buildOperatorImage({ progress });
  },
  'images-24.11': async () => {
    for (const name of images.filter(isSlurm)) await buildImage(name, '24.11', { progress });
  },
  'mini-slurm': async () => {
    for (const version of slurmVersions) await slurmRootfs(version, { progress });
  },
};

const name = process.argv[2] ?? '';
if (!(name in preparations)) {
  console.error(`"${name}" is nothing to prepare; choose one of ${Object.keys(preparations).join(', ')}`);
  process.exit(2);
}
try {
  await steps[name as Preparation]();
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}
