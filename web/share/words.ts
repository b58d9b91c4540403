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
    gone: '此链接已失效。',
    often: '提问过于频繁，请稍后再试。',
    spent: '今日提问次数已用完，请明天再来。',
    failed: '暂时无法回答，请稍后重试。',
    hello: '您好，请问有什么可以帮您？',
    open: '打开对话',
    close: '关闭对话',
    refused: '对话无法在此网站打开。',
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
    gone: 'This link no longer works.',
    often: 'Too many questions. Try again in a minute.',
    spent: 'No questions are left for today. Come back tomorrow.',
    failed: 'No answer is possible now. Try again later.',
    hello: 'Hello! How can I help you?',
    open: 'Open chat',
    close: 'Close chat',
    refused: 'The chat cannot be opened on this site.',
  },
} as const

const isChinese = navigator.languages.some((language, at) => at === 0 && /^zh\b/i.test(language))

export const language = isChinese ? 'zh-CN' : 'en'
/** The texts for visitors, in the first language of their browser: Chinese or English. */
export const words = isChinese ? WORDS.zh : WORDS.en
