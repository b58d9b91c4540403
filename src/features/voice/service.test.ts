import { expect, test } from 'bun:test'
import type { Asr } from '../../upstream/ports/speech.ts'
import { hear } from './service.ts'

const { signal } = new AbortController()
const bytes = new Uint8Array(1)

function listenTo(text: string, silent: boolean | null, skipSilence: boolean) {
  let asked = 0
  const asr: Asr = {
    name: 'scripted',
    async transcribe() {
      asked++
      return { text }
    },
  }
  const codecs = { isSilent: async () => silent }
  return hear({ asr, codecs, skipSilence }, { bytes, tenantId: 't' }, signal).then(
    ({ text: heard }) => ({
      heard,
      asked,
    }),
  )
}

test.each([
  [' 你好 \n', false, true, { heard: '你好', asked: 1 }],
  ['你好', null, true, { heard: '你好', asked: 1 }],
  ['你好', true, true, { heard: '', asked: 0 }],
  ['你好', true, false, { heard: '你好', asked: 1 }],
  ['请不吝点赞 订阅 转发 打赏支持明镜与点点栏目', true, false, { heard: '', asked: 1 }],
  ['以下是普通话的句子，请加上标点符号。', true, false, { heard: '', asked: 1 }],
  ['Thank you for watching!', true, false, { heard: '', asked: 1 }],
  ['谢谢大家', true, false, { heard: '', asked: 1 }],
  ['。', true, false, { heard: '', asked: 1 }],
  ['谢谢大家', false, false, { heard: '谢谢大家', asked: 1 }],
])(
  'the recogniser text %j with silence %p and skipping %p is cleaned',
  async (text, silent, skip, expected) => {
    expect(await listenTo(text, silent, skip)).toEqual(expected)
  },
)
