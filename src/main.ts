import { liftFetchLimit } from './commands/restart.ts'

// Nothing else is loaded before this process is replaced: what is would be loaded twice.

// Keys and conversations: nobody but this user reads what is written.
process.umask(0o077)

const args = process.argv.slice(2)
if ((args[0] ?? 'serve') === 'serve') liftFetchLimit(process.env)

import('./commands/command-line.ts')
  .then(({ runCommandLine }) => runCommandLine(args, import.meta.url))
  .then((code) => process.exit(code))
