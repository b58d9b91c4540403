import { type Archive, resolvePath } from './archive.ts'
import { attribute, readXml } from './xml.ts'

/** Parts that a part of an office file refers to (ECMA-376-2, 9.3). */
export interface Relations {
  /** The name of a part by the id that the text uses. */
  byId(id: string | undefined): string | null
  /** The first part of a kind, by the end of its relationship type, such as `styles`. */
  ofKind(kind: string): string | null
  all(kind: string): readonly string[]
}

/** `part`: the empty string for the relations of the whole file. */
export async function relationsOf(archive: Archive, part: string): Promise<Relations> {
  const slash = part.lastIndexOf('/') + 1
  const path = `${part.slice(0, slash)}_rels/${part.slice(slash)}.rels`
  const list: { id: string; kind: string; target: string }[] = []
  if (archive.has(path)) {
    await readXml(archive, path, {
      open(name, attributes) {
        const target = attribute(attributes, 'Target')
        const isInside = attribute(attributes, 'TargetMode') !== 'External'
        if (name !== 'Relationship' || target === undefined || !isInside) return
        const type = attribute(attributes, 'Type') ?? ''
        const kind = type.slice(type.lastIndexOf('/') + 1)
        list.push({
          id: attribute(attributes, 'Id') ?? '',
          kind,
          target: resolvePath(part, target),
        })
      },
    })
  }
  const present = list.filter(({ target }) => archive.has(target))
  const all = (kind: string) =>
    present.filter((item) => item.kind === kind).map(({ target }) => target)
  return {
    byId: (wanted) => present.find(({ id }) => id === wanted)?.target ?? null,
    ofKind: (kind) => all(kind)[0] ?? null,
    all,
  }
}

/** The main part of an office file, whose name may differ from the usual one, and the title. */
export async function openOffice(archive: Archive, usual: string) {
  const relations = await relationsOf(archive, '')
  const main = relations.ofKind('officeDocument') ?? usual
  const properties = relations.ofKind('core-properties')
  return {
    main,
    relations: await relationsOf(archive, main),
    title: properties ? await titleIn(archive, properties) : null,
  }
}

async function titleIn(archive: Archive, part: string): Promise<string | null> {
  let title = ''
  let isTitle = false
  await readXml(archive, part, {
    open: (name) => {
      isTitle = name === 'title'
    },
    text: (data) => {
      if (isTitle) title += data
    },
    close: () => {
      isTitle = false
    },
  })
  return title.trim() || null
}
