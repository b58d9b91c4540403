import type { Rule } from '../rule.ts'

const FOLDER = 'src/storage/migrations/'

export const migrationRule: Rule = {
  name: 'migrations are numbered without gaps',
  check: (files) => {
    const names = files.map(({ path }) => path).filter((path) => /\.sql$/.test(path))
    const ours = names.filter((path) => path.startsWith(FOLDER)).sort()
    return ours.flatMap((path, index) => {
      const number = String(index + 1).padStart(4, '0')
      const wanted = new RegExp(`^${FOLDER}${number}-[a-z0-9-]+\\.sql$`)
      if (wanted.test(path)) return []
      return [{ path, line: 1, message: `should be named ${number}-<what-it-does>.sql` }]
    })
  },
}
