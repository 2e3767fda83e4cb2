/** What kubectl finds out it keeps under HOME, for ever. Here it keeps it where `make clean` removes it. */
import { join } from 'node:path';
import { cacheDirectory } from '@slurm-operator/sandbox';

process.env['KUBECACHEDIR'] ??= join(cacheDirectory(), 'kubectl');
