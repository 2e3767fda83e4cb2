#!/usr/bin/env node
/** The command `localcluster`. */
import { runCli } from './cli/run-cli.ts';

process.exitCode = await runCli(process.argv.slice(2), (line) => console.log(line));
