/**
 * Begins a command in a mount namespace of its own. `mount` is what is mounted there for it alone,
 * `first` what a shell runs before it.
 */
const inNamespace = (mount: string, first = 'true'): readonly string[] => [
  'unshare',
  '-rm',
  'sh',
  '-c',
  `${mount} && ${first} && exec "$@"`,
  'sh',
]

/** A file system in memory with these options. */
export const mounted = (options: string, path: string, first = 'true') =>
  inNamespace(`mount -t tmpfs -o ${options} tmpfs "${path}"`, first)

/** The folder as it is, on a disk that takes no writes. */
export const readOnly = (path: string) =>
  inNamespace(`mount --bind "${path}" "${path}" && mount -o remount,ro,bind "${path}"`)

export const canMount = Bun.which('unshare')
  ? Bun.spawnSync([...mounted('size=1m', '/mnt'), 'true']).exitCode === 0
  : false
