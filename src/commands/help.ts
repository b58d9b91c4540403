import type { z } from 'zod'
import { SETTINGS } from '../config.ts'

const COMMANDS = `Moonbase: a multi-tenant AI agent platform in one file.

Usage: moonbase [command]

Commands
  serve                    start the server (the default)
  key create [--email E] [--rate-limit N] [--name NAME] [--daily-tokens N] [--json]
                           make an API key for the person E, who is made if missing
  admin EMAIL [--remove | --link]
                           make a person operator of the server; --remove undoes it; --link
                           prints a link that signs them in once
  backup [FILE]            write all data and secrets to one file, also while the server runs;
                           without FILE, encrypted to MB_BACKUP_DIR or MB_BACKUP_S3
  restore FILE [--box ID] [--force]
                           put a backup into the data folder, while no server runs; FILE may be a
                           folder of encrypted backups or s3://bucket/prefix
  migrate --from FOLDER [--force]
                           copy a data folder into the database of MB_DATABASE_URL
  doctor [--json]          check folder, native parts, models and upstreams, and advise
  sync FOLDER --to URL     keep the knowledge base of a server as a folder is; key in MOONBASE_KEY
  version                  print the version
  COMMAND --help           more about a command

Settings (environment variables, all optional)
`

/** What `moonbase --help` prints: the commands, and every setting with its default. */
export function help(): string {
  const rows = Object.entries(SETTINGS)
    .filter(([, setting]) => setting.description !== undefined)
    .map(([name, setting]) => `  ${name.padEnd(24)} ${setting.description}${fallback(setting)}`)
  return `${COMMANDS}${rows.join('\n')}\n`
}

function fallback(setting: z.ZodType): string {
  const parsed = setting.safeParse(undefined)
  const value = parsed.success ? parsed.data : undefined
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return ''
  return ` (${String(value)})`
}

const MORE: Readonly<Record<string, string>> = {
  serve: `Usage: moonbase serve

Starts the server on MB_HOST and MB_PORT with the data in MB_DATA_DIR, and prints how to sign in.
SIGTERM or Ctrl+C lets open turns finish (10 s at most), writes out what is buffered and ends; a
second one, a second later, ends at once.
Settings are environment variables; see moonbase --help.
`,
  key: `Usage: moonbase key create [--email E] [--rate-limit N] [--name NAME]
                           [--daily-tokens N] [--json]

Makes an API key and prints it once. Works before the first start and while the server runs.

  --email E        the person whose tenant gets the key; made if missing (owner@localhost)
  --rate-limit N   requests a minute, 0 is unlimited (60)
  --name NAME      name of the key in lists
  --daily-tokens N tokens that its turns may use a day (UTC), 0 is no budget (0)
  --json           print JSON
`,
  admin: `Usage: moonbase admin EMAIL [--remove | --link]

Makes a person operator, who sets models, mail, sign-up and people in the console (Server). The
first person who signs in is one. Works before the first start and while the server runs; the person
is made if missing, and may sign in again if disabled. The code of an address such as
owner@localhost is always printed by the server, also when mail does not work.

  --remove         the person is no longer operator; the last one stays
  --link           only prints a link that signs the person in once, within ten minutes, whatever
                   MB_SIGNIN says: the way in without mail, or after a passkey was lost
`,
  backup: `Usage: moonbase backup [FILE] [--json]

Writes everything in MB_DATA_DIR, secrets included, to one file that only this user can read. The
server may go on writing: the file is a snapshot. It appears under its name when it is complete.
An earlier backup of that name is replaced; any other file is not. Keys that the environment sets
(MB_ENCRYPTION_KEY, MB_SESSION_SECRET) are not in it.

  moonbase backup /backups/moonbase-$(date +%F).db

Without FILE it makes one backup as the server does every MB_BACKUP_EVERY: compressed, encrypted
with MB_BACKUP_PASSPHRASE, stored in MB_BACKUP_DIR or MB_BACKUP_S3; the newest MB_BACKUP_KEEP stay.

  --json           print JSON: {name, place, at, unchanged}
`,
  restore: `Usage: moonbase restore FILE [--box ID] [--force]

Checks a backup from end to end, then restores it to MB_DATA_DIR. No server may run there. The old
data is kept in MB_DATA_DIR/backups. Encrypted backups need MB_BACKUP_PASSPHRASE. A folder, or
s3://bucket/prefix, means the newest backup in it that can be read: of the box whose secrets.json
is in MB_DATA_DIR, or of the only box that is there. Among several others, choose one with --box.

  moonbase restore s3://bucket/prefix

  --box ID         take the newest of this box: the eight letters and digits at the end of a name
  --force          replace data that is there
`,
  migrate: `Usage: moonbase migrate --from FOLDER [--force]

Copies everything in a data folder into the PostgreSQL database of MB_DATABASE_URL: people, keys,
apps, conversations, the knowledge base with its vectors, logs. No server may run on the folder,
and the database must be empty. Copies everything or nothing. A folder of an earlier version is
migrated first. Secrets are encrypted again when MB_ENCRYPTION_KEY differs from the folder's key.

  --force          replace what the database holds
`,
  doctor: `Usage: moonbase doctor [--json]

Checks settings, address, data folder, secrets, database, native parts, embedding model, language
model, speech and mail, and says what is wrong and how to fix it. Changes no data and prints no
secret; it only puts the native parts in place, as a start does. Ends with 1 when something must be
fixed.

  --json           print JSON: {checks: [{name, level, text, mend}]}
`,
  sync: `Usage: moonbase sync FOLDER --to URL [--prefix P] [--collection NAME] [--include GLOB]
                     [--delete] [--watch] [--dry-run]

Sends new and changed files below FOLDER to the knowledge base of the server at URL, with the API
key in MOONBASE_KEY, and waits until they are read. A changed file replaces its old text at once
and whole; one that cannot be read leaves the old text. Hidden files and links are left out, and
what .gitignore and .moonbaseignore name. Ends with 1 when a file failed, with one line for each.

  MOONBASE_KEY=sk-mb-… moonbase sync handbook --to https://moonbase.example.com --delete

  --prefix P       begins the name under which the server knows each file: one for each folder
  --collection N   into this collection, by its name or id
  --include GLOB   only files that match, such as '*.md' or 'docs/**'; may be given several times
  --delete         delete what has the prefix, on the server, and is gone from the folder
  --watch          go on, and send what changes, until Ctrl+C
  --dry-run        only say what would be done
`,
}

/** What `moonbase COMMAND --help` prints. */
export const helpOf = (command: string): string => MORE[command] ?? help()
