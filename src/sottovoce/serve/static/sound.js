// Sound in the browser: decoding, writing WAV, recording, drawing.

export async function decode(blob) {
  const context = new OfflineAudioContext(1, 1, 44100);
  const sound = await context.decodeAudioData(await blob.arrayBuffer());
  return { samples: sound.getChannelData(0), rate: sound.sampleRate };
}

export function asWav({ samples, rate }) {
  const view = new DataView(new ArrayBuffer(44 + 2 * samples.length));
  const word = (at, letters) => [...letters].forEach((c, i) => view.setUint8(at + i, c.charCodeAt(0)));
  word(0, "RIFF");
  view.setUint32(4, 36 + 2 * samples.length, true);
  word(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, 2 * rate, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  word(36, "data");
  view.setUint32(40, 2 * samples.length, true);
  samples.forEach((one, i) => {
    view.setInt16(44 + 2 * i, Math.max(-32768, Math.min(32767, Math.round(one * 32768))), true);
  });
  return new Blob([view], { type: "audio/wav" });
}

// Starts a recording; the function it gives back ends it and gives a WAV file.
export async function record() {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  const recorder = new MediaRecorder(stream);
  const pieces = [];
  recorder.addEventListener("dataavailable", (event) => pieces.push(event.data));
  recorder.start();
  return () =>
    new Promise((resolve, reject) => {
      recorder.addEventListener("stop", () => {
        stream.getTracks().forEach((track) => track.stop());
        decode(new Blob(pieces, { type: recorder.mimeType })).then(asWav).then(resolve, reject);
      });
      recorder.stop();
    });
}

function prepared(canvas) {
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(canvas.clientWidth * scale);
  canvas.height = Math.round(canvas.clientHeight * scale);
  return canvas.getContext("2d");
}

export function drawWave(canvas, { samples }) {
  const pen = prepared(canvas);
  const { width, height } = canvas;
  pen.fillStyle = getComputedStyle(canvas).color;
  for (let x = 0; x < width; x++) {
    const first = Math.floor((x * samples.length) / width);
    const last = Math.max(first + 1, Math.floor(((x + 1) * samples.length) / width));
    let low = 0;
    let high = 0;
    for (let i = first; i < last && i < samples.length; i++) {
      low = Math.min(low, samples[i]);
      high = Math.max(high, samples[i]);
    }
    pen.fillRect(x, ((1 - high) * height) / 2, 1, Math.max(1, ((high - low) * height) / 2));
  }
}

const SIZE = 512;
const TOP = 8000; // hertz
const RANGE = 70; // decibels

// Columns of a spectrogram up to 8 kHz, louder is darker.
export function drawTones(canvas, { samples, rate }) {
  const pen = prepared(canvas);
  const { width, height } = canvas;
  const columns = Math.min(width, 400);
  const bins = Math.min(SIZE / 2, Math.floor((TOP / rate) * SIZE));
  const power = [];
  for (let c = 0; c < columns; c++) {
    const middle = Math.floor(((c + 0.5) * samples.length) / columns);
    power.push(spectrum(samples, middle - SIZE / 2).slice(0, bins));
  }
  const loudest = Math.max(...power.map((column) => Math.max(...column)));
  for (let c = 0; c < columns; c++) {
    for (let k = 0; k < bins; k++) {
      const depth = Math.max(0, 1 - (loudest - power[c][k]) / RANGE);
      const x = Math.floor((c * width) / columns);
      const y = Math.floor(height - ((k + 1) * height) / bins);
      pen.fillStyle = `rgb(${255 - 230 * depth} ${255 - 190 * depth} ${255 - 120 * depth})`;
      pen.fillRect(x, y, Math.ceil(width / columns), Math.ceil(height / bins));
    }
  }
}

// Decibels of one Hann-windowed frame, by an iterative FFT.
function spectrum(samples, start) {
  const re = new Float64Array(SIZE);
  const im = new Float64Array(SIZE);
  for (let i = 0; i < SIZE; i++) {
    let j = 0;
    for (let bit = 1, k = i; bit < SIZE; bit <<= 1, k >>= 1) j = (j << 1) | (k & 1);
    re[j] = (samples[start + i] || 0) * (0.5 - 0.5 * Math.cos((2 * Math.PI * i) / SIZE));
  }
  for (let half = 1; half < SIZE; half *= 2) {
    for (let at = 0; at < SIZE; at += 2 * half) {
      for (let k = 0; k < half; k++) {
        const angle = (-Math.PI * k) / half;
        const a = at + k;
        const b = a + half;
        const x = re[b] * Math.cos(angle) - im[b] * Math.sin(angle);
        const y = re[b] * Math.sin(angle) + im[b] * Math.cos(angle);
        [re[b], im[b]] = [re[a] - x, im[a] - y];
        [re[a], im[a]] = [re[a] + x, im[a] + y];
      }
    }
  }
  return Array.from(re, (one, k) => 10 * Math.log10(one * one + im[k] * im[k] + 1e-12));
}
