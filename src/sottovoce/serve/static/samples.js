// An invented sentence per language; no real person is meant.
export const SAMPLES = {
  en: "Hello, this is Ann Lee from Berlin, please call me back at nine pm on Monday, my number is 030 901820, or write to ann.lee@example.org.",
  de: "Guten Tag, hier ist Anna Schmidt aus Hamburg, bitte rufen Sie mich am Montag um neun Uhr unter 040 5550123 zurück.",
  es: "Hola, soy Carmen García de Sevilla, llámeme por favor el lunes a las nueve, mi número es 954 555 012.",
  fr: "Bonjour, je suis Claire Martin de Lyon, rappelez-moi lundi à neuf heures au 04 72 55 01 23.",
  it: "Buongiorno, sono Giulia Rossi di Bologna, mi richiami lunedì alle nove, il mio numero è 051 555 0123.",
  lv: "Labdien, es esmu Anna Kalniņa no Rīgas, lūdzu, zvaniet man pirmdien pulksten deviņos, mans numurs ir 67 555 012.",
  nl: "Goedendag, u spreekt met Anna de Vries uit Utrecht, bel mij maandag om negen uur terug op 030 555 0123.",
  pt: "Bom dia, sou a Ana Silva de Lisboa, ligue-me na segunda-feira às nove horas, o meu número é 215 550 123.",
};
SAMPLES.auto = SAMPLES.multi = [SAMPLES.en, SAMPLES.de, SAMPLES.fr].join("\n");
