/**
 * Settings that the model cards of common families state and their exports often omit. `model.json`
 * in the folder overrides them.
 */
export interface KnownModel {
  readonly pooling: 'cls' | 'mean'
  readonly queryPrefix: string
  readonly passagePrefix: string
}

const PLAIN: KnownModel = { pooling: 'mean', queryPrefix: '', passagePrefix: '' }

const FAMILIES: readonly (readonly [RegExp, KnownModel])[] = [
  [
    /\bbge-(?:small|base|large)-zh\b/i,
    { pooling: 'cls', queryPrefix: '为这个句子生成表示以用于检索相关文章：', passagePrefix: '' },
  ],
  [
    /\bbge-(?:small|base|large)-en\b/i,
    {
      pooling: 'cls',
      queryPrefix: 'Represent this sentence for searching relevant passages: ',
      passagePrefix: '',
    },
  ],
  [/\bbge-m3\b/i, { ...PLAIN, pooling: 'cls' }],
  [/\be5-/i, { pooling: 'mean', queryPrefix: 'query: ', passagePrefix: 'passage: ' }],
]

/** `name`: any name of the model, such as its hub path or its folder. */
export function knownModel(name: string): KnownModel {
  return FAMILIES.find(([pattern]) => pattern.test(name))?.[1] ?? PLAIN
}
