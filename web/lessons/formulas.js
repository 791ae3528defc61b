/**
 * The formulas of the lessons in LaTeX; where there is little room a line may end at \allowbreak. The
 * build turns each into MathML trees, one for each part, so that no typesetting runs in the page.
 * @type {Record<string, string>}
 */
export default {
  input: 'x_i = e_i + p_i',
  position: String.raw`p_{i,2t} = \sin\frac{i}{10000^{2t/H}}`,
  query: String.raw`q_i = W_q\,x_i`,
  key: String.raw`k_j = W_k\,x_j`,
  value: String.raw`v_j = W_v\,x_j`,
  'score-scaled-dot': String.raw`q_i \cdot k_j`,
  'score-dot': String.raw`q_i \cdot k_j`,
  'score-general': String.raw`q_i^\top W k_j`,
  'score-additive': String.raw`w^\top \tanh( \allowbreak W_1 q_i \allowbreak {}+ W_2 k_j)`,
  'score-cosine': String.raw`\frac{q_i \cdot k_j}{\|q_i\|\,\|k_j\|}`,
  'score-gaussian': String.raw`-\tfrac{1}{2}\,\|(q_i \allowbreak {}- k_j)\,w\|^2`,
  'scale-root': String.raw`s_{ij} = \allowbreak \frac{q_i \cdot k_j}{\sqrt{D}\;\tau}`,
  'scale-number': String.raw`s_{ij} \cdot \frac{c}{\tau}`,
  'scale-none': String.raw`s_{ij} \cdot \frac{1}{\tau}`,
  'mask-exclude': String.raw`\{s_{ij} : \allowbreak m_{ij} = 1\}`,
  'mask-d2l': String.raw`m_{ij} = 0 \allowbreak \Rightarrow -10^6`,
  'mask-pytorch': String.raw`m_{ij} = 0 \allowbreak \Rightarrow -\infty`,
  'normalise-softmax': String.raw`a_{ij} = \allowbreak \frac{e^{s_{ij}}}{\sum_l e^{s_{il}}}`,
  'normalise-sigmoid': String.raw`a_{ij} = \allowbreak \frac{1}{1 + e^{-s_{ij}}}`,
  'normalise-relu': String.raw`a_{ij} = \allowbreak \max(0, s_{ij})`,
  heads: String.raw`o_i = \allowbreak \sum_j a_{ij}\,v_j`,
  output: String.raw`[o_i^1 \cdots o_i^h] \allowbreak W_o^\top`,
  mean: String.raw`\bar a_{ij} = \frac{1}{h}\sum_n a^n_{ij}`,
  entropy: String.raw`-\sum_j a_{ij} \ln a_{ij}`,
  regression: String.raw`f(x) = \sum_j \frac{K(u_j)}{\sum_l K(u_l)}\, y_j`,
  'regression-distance': String.raw`u_j = |x - x_j|\, w`,
  'kernel-average': 'K(u) = 1',
  'kernel-gaussian': 'K(u) = e^{-u^2 / 2}',
  'kernel-boxcar': String.raw`K(u) = [\,u < 1\,]`,
  'kernel-triangular': String.raw`K(u) = \max(0, 1 - u)`,
  'kernel-epanechnikov': String.raw`K(u) = \max(0, 1 - u^2)`,
  'kernel-tricube': String.raw`K(u) = \max(0, 1 - u^3)^3`,
};
