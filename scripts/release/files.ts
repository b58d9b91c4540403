import { readdirSync } from 'node:fs'
import { join } from 'node:path'

interface Parts {
  readonly version: string
  readonly notes: string
  /** The bill of materials, as text. */
  readonly bill: string
  /** The Dockerfile of the repository, which takes the executable of `npm run build`. */
  readonly dockerfile: string
}

/** The texts of a release by their file names. */
export function releaseFiles({ version, notes, bill, dockerfile }: Parts): Map<string, string> {
  return new Map([
    ['NOTES.md', notes],
    [`moonbase-${version}.cdx.json`, bill],
    ['Dockerfile', releasedDockerfile(dockerfile)],
  ])
}

/** Takes the executable of the image's processor from the folder of the release. */
function releasedDockerfile(text: string): string {
  const released = text
    .replace(/`npm run build` has written/, 'a release has, beside this file')
    .replace(
      'docker build -f scripts/deploy/Dockerfile -t moonbase .',
      'docker build -t moonbase .',
    )
    .replace(
      'COPY --chmod=755 dist/moonbase ',
      'ARG EXECUTABLE=moonbase-linux-x64\nCOPY --chmod=755 $' + '{EXECUTABLE} ',
    )
  if (released.includes('dist/')) throw new Error('the Dockerfile still takes a file of dist/')
  return released
}

/** The SHA-256 of every file of the folder but the list of them, by name. */
export async function sumsOf(folder: string): Promise<Map<string, string>> {
  const sums = new Map<string, string>()
  for (const name of readdirSync(folder).sort()) {
    if (name === 'SHA256SUMS') continue
    const hash = new Bun.CryptoHasher('sha256')
    for await (const chunk of Bun.file(join(folder, name)).stream()) hash.update(chunk)
    sums.set(name, hash.digest('hex'))
  }
  return sums
}
