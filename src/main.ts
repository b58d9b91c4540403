import { liftFetchLimit } from './commands/program.ts'

// Nothing else is loaded before this process has replaced itself: it would be loaded twice.

// Files contain keys and conversations, so only this user may read them.
process.umask(0o077)

const args = process.argv.slice(2)
if ((args[0] ?? 'serve') === 'serve') liftFetchLimit(process.env)

import('./commands/command-line.ts')
  .then(({ runCommandLine }) => runCommandLine(args, import.meta.url))
  .then((code) => process.exit(code))
