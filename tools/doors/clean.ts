/** `make clean`: removes what the doors keep outside the checkout (the cache directory) and whatever still runs. */
import { rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'slurm-operator');
rmSync(cache, { recursive: true, force: true });
console.log(`removed ${cache}`);
