import { liftFetchLimit } from './commands/program.ts'

// Until this process has replaced itself nothing else is loaded, for it would be loaded twice.

// What it writes are keys and conversations: for this user's eyes only.
process.umask(0o077)

const args = process.argv.slice(2)
if ((args[0] ?? 'serve') === 'serve') liftFetchLimit(process.env)

import('./commands/command-line.ts')
  .then(({ runCommandLine }) => runCommandLine(args, import.meta.url))
  .then((code) => process.exit(code))
