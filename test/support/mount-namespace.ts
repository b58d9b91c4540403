/**
 * The command prefix that starts a program in a new mount namespace, after the shell commands
 * `mount` and `first`. Other processes do not see its mounts.
 */
const inNamespace = (mount: string, first = 'true'): readonly string[] => [
  'unshare',
  '-rm',
  'sh',
  '-c',
  `${mount} && ${first} && exec "$@"`,
  'sh',
]

/** Mounts a tmpfs with `options` on `path`. */
export const mounted = (options: string, path: string, first = 'true') =>
  inNamespace(`mount -t tmpfs -o ${options} tmpfs "${path}"`, first)

/** Mounts the folder `path` read-only over itself. */
export const readOnly = (path: string) =>
  inNamespace(`mount --bind "${path}" "${path}" && mount -o remount,ro,bind "${path}"`)

export const canMount = Bun.which('unshare')
  ? Bun.spawnSync([...mounted('size=1m', '/mnt'), 'true']).exitCode === 0
  : false
