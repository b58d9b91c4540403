import { sha256Hex } from '../../../../src/core/crypto.ts'
import type { Rule } from '../rule.ts'

const FOLDERS = ['src/storage/migrations/', 'src/storage/postgres/migrations/']

const numbered: Rule = {
  name: 'migrations are numbered without gaps',
  check: (files) => {
    const names = files.map(({ path }) => path).filter((path) => /\.sql$/.test(path))
    return FOLDERS.flatMap((folder) => {
      const ours = names.filter((path) => path.startsWith(folder)).sort()
      return ours.flatMap((path, index) => {
        const number = String(index + 1).padStart(4, '0')
        const wanted = new RegExp(`^${folder}${number}-[a-z0-9-]+\\.sql$`)
        if (wanted.test(path)) return []
        return [{ path, line: 1, message: `should be named ${number}-<what-it-does>.sql` }]
      })
    })
  },
}

/** Written by a release, as `sha256sum` writes it; there is none before the first. */
const RELEASED = 'src/storage/released.sha256'

const unchanged: Rule = {
  name: 'a released migration does not change',
  check: (files) => {
    const texts = new Map(files.map(({ path, text }) => [path, text]))
    const lines = texts.get(RELEASED)?.split('\n').filter(Boolean) ?? []
    return lines.flatMap((line, index) => {
      const [hash, path = ''] = line.split('  ')
      const text = texts.get(path)
      if (text !== undefined && sha256Hex(text) === hash) return []
      const message = `${path} was released otherwise; put it back, and add a migration`
      return [{ path: RELEASED, line: index + 1, message }]
    })
  },
}

export const migrationRules = [numbered, unchanged]
