import { face } from './face.ts'

const WORDS = {
  zh: {
    ask: '输入您的问题',
    send: '发送',
    stop: '停止',
    fresh: '新对话',
    you: '您：',
    waiting: '正在回答…',
    stopped: '已停止',
    sources: '参考：',
    page: (page: number) => `第 ${page} 页`,
    note: '回答由人工智能生成，请核对重要信息。',
    away: '无法连接，请稍后重试。',
    gone: '此链接已失效，请向给您链接的人索取新的。',
    often: '提问过于频繁，请稍后再试。',
    spent: '今日提问次数已用完，请明天再来。',
    failed: '暂时无法回答，请稍后重试。',
    hello: '您好，请问有什么可以帮您？',
    open: '打开对话',
    close: '关闭对话',
    closePassage: '关闭',
    cite: (number: number, place: string) => `来源 ${number}：${place}`,
    refused: '对话无法在此网站打开。',
    paused: '此对话已暂停，请稍后再来。',
    good: '回答得好',
    bad: '回答得不好',
    thanks: '谢谢您的反馈。',
    why: '哪里不好？',
    reasons: {
      wrong: '有错误',
      incomplete: '不完整',
      source: '出处不对',
      style: '表达不好',
      slow: '太慢',
      unsafe: '不安全',
      other: '其他',
    },
  },
  en: {
    ask: 'Your question',
    send: 'Send',
    stop: 'Stop',
    fresh: 'New conversation',
    you: 'You: ',
    waiting: 'Answering…',
    stopped: 'Stopped',
    sources: 'From: ',
    page: (page: number) => `p. ${page}`,
    note: 'Answers are written by an AI. Check what matters.',
    away: 'No connection. Try again later.',
    gone: 'This link no longer works. Ask whoever gave it to you for a new one.',
    often: 'Too many questions. Try again in a minute.',
    spent: 'No questions are left for today. Come back tomorrow.',
    failed: 'No answer is possible now. Try again later.',
    hello: 'Hello! How can I help you?',
    open: 'Open chat',
    close: 'Close chat',
    closePassage: 'Close',
    cite: (number: number, place: string) => `Source ${number}: ${place}`,
    refused: 'The chat cannot be opened on this site.',
    paused: 'This chat is paused. Come back later.',
    good: 'Good answer',
    bad: 'Bad answer',
    thanks: 'Thank you for telling us.',
    why: 'What was bad?',
    reasons: {
      wrong: 'Wrong',
      incomplete: 'Incomplete',
      source: 'Wrong source',
      style: 'Badly put',
      slow: 'Slow',
      unsafe: 'Unsafe',
      other: 'Other',
    },
  },
} as const

const prefersChinese = /^zh\b/i.test(navigator.languages[0] ?? '')

/** The texts for visitors in a language; auto: the first one of their browser. */
export const wordsIn = (choice: 'auto' | 'zh' | 'en') =>
  choice === 'zh' || (choice !== 'en' && prefersChinese) ? WORDS.zh : WORDS.en

export const words = wordsIn(face.language)
export const language = words === WORDS.zh ? 'zh-CN' : 'en'
