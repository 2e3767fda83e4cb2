/** kubectl caches discovery under HOME. Here the cache is where `make clean` removes it. */
import { join } from 'node:path';
import { cacheDirectory } from '@slurm-operator/sandbox';

process.env['KUBECACHEDIR'] ??= join(cacheDirectory(), 'kubectl');
