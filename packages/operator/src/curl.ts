/** The program `curl` of the operator's image: prints what the program beside it serves. Nothing else is in reach. */
import { curl } from './programs/curl.ts';

process.exitCode = await curl(process.argv.slice(2), {
  print: (text) => void process.stdout.write(text),
  complain: (text) => void process.stderr.write(`curl: ${text}\n`),
});
