// Quiet sounds, made by oscillators: no files. The browser allows them once somebody has clicked or pressed a key.

import { settings } from "./settings.js";

const GAIN = 0.07;
const APART = 80; // milliseconds: games that run fast do not rattle
// Each tone: frequency at its start and at its end in Hz, when it begins and how long it is in seconds.
const SOUNDS = {
  move: [[340, 190, 0, 0.07]],
  capture: [[340, 190, 0, 0.06], [260, 140, 0.07, 0.08]],
  end: [[392, 392, 0, 0.3], [494, 494, 0.06, 0.3], [587, 587, 0.12, 0.35]],
  low: [[880, 880, 0, 0.05], [880, 880, 0.12, 0.05]],
};
let context = null;
let last = -APART;

/** Plays a sound, if sounds are on. */
export function play(name) {
  const now = performance.now();
  if (!settings.sound || !navigator.userActivation?.hasBeenActive || now - last < APART) {
    return;
  }
  last = now;
  context ??= new AudioContext();
  for (const [from, to, after, length] of SOUNDS[name]) {
    const [begins, tone, gain] = [context.currentTime + after, context.createOscillator(), context.createGain()];
    tone.type = "triangle";
    tone.frequency.setValueAtTime(from, begins);
    tone.frequency.exponentialRampToValueAtTime(to, begins + length);
    gain.gain.setValueAtTime(GAIN, begins);
    gain.gain.exponentialRampToValueAtTime(0.0005, begins + length);
    tone.connect(gain).connect(context.destination);
    tone.start(begins);
    tone.stop(begins + length);
  }
}

/** The sound of what has happened between two states of a game, if any. */
export function soundOf(before, state) {
  if (state.over && !before.over) {
    return "end";
  }
  if (state.ply <= before.ply) {
    return null;
  }
  return state.last?.captured?.length ? "capture" : "move";
}
