import { join } from 'node:path'

export const ROOT = join(import.meta.dir, '..', '..')

/** The command line of the sources under this Bun, which unpacks no native parts. */
export const SOURCES: readonly string[] = [process.execPath, join(ROOT, 'src', 'main.ts')]

/** The product's command line: the executable in $MOONBASE_BIN, or the sources. */
export const moonbase = (): readonly string[] => {
  const executable = process.env.MOONBASE_BIN
  return executable ? [executable] : SOURCES
}

/**
 * A clean environment for the product: no setting of the shell leaks in, and the product does not
 * search the machine for model servers or programs.
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
