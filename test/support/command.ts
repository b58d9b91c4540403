import { join } from 'node:path'

export const ROOT = join(import.meta.dir, '..', '..')

/** The product's command line: the executable in $MOONBASE_BIN, or the sources under this Bun. */
export const moonbase = (): readonly string[] => {
  const executable = process.env.MOONBASE_BIN
  return executable ? [executable] : [process.execPath, join(ROOT, 'src', 'main.ts')]
}

/**
 * A clean environment for the product: settings of the surroundings do not leak in, and nothing is
 * looked for on the machine.
 */
export const environment = (dataDir: string, env: Readonly<Record<string, string>> = {}) => {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'SystemRoot'].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    ...Object.fromEntries(kept),
    MB_HOST: '127.0.0.1',
    MB_PORT: '0',
    MB_LLM_DETECT: 'false',
    MB_DATA_DIR: dataDir,
    ...env,
  }
}
