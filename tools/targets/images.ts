/**
 * `make images`: every image as an archive, for a registry or for machines that load them. One that is there is not built
 * again, so an interrupted run goes on where it was.
 */
import { buildAllImages } from '@slurm-operator/images';
import { explain } from '@slurm-operator/localcluster';
import { consoleProgress, requireRoot } from '@slurm-operator/sandbox';
import { red } from './terminal.ts';

try {
  requireRoot('Building images');
  for await (const { tag, path } of buildAllImages({ progress: consoleProgress() }))
    console.log(`${tag}\t${path}`);
  console.log(`
Load them:  localcluster load-image FILE…   kind load image-archive FILE   ctr -n k8s.io images import FILE   docker load -i FILE
Or push:    skopeo copy docker-archive:FILE docker://registry.example.com/hpc/slurm-operator/NAME:VERSION
            and set registry=registry.example.com/hpc in both charts (make demo: REGISTRY=registry.example.com/hpc)`);
} catch (error) {
  console.error(red(`✘ ${explain(error)}`));
  process.exitCode = 1;
}
