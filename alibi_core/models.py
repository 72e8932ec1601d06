"""Which published models use ALiBi, and with which slopes?

Each row was read in the public texts that it names: ``source`` states the number of heads,
``code`` computes the slopes. What neither shows is None.

Their generators look different and give the same slopes. BLOOM and Falcon raise two bases to
powers; Baichuan, JAIS and the encoders recurse as the authors do; MPT computes the sequence of
the *next* power of two and takes its even entries, then its odd ones, cut to length. The even
entries of twice as many heads are the smaller sequence, so all of this is the ``reference``
schedule, in its order, for every count. Only MosaicGPT, which came before MPT, had the
``geometric`` one.

BLOOM, Falcon, MPT, Replit and Baichuan build the bias from the key position alone: below a causal
mask the softmax cannot tell that from the distance. The encoders have no causal mask and build
``-m * |i - j|``.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alibi_core.slopes import Schedule, alibi_slopes


@dataclass(frozen=True)
class Model:
    """A published model with ALiBi.

    Attributes
    ----------
    name : str
    num_heads : int
        Attention heads of a layer: query heads, where they share keys.
    max_bias : float
        As in `alibi_slopes`.
    schedule : {"reference", "geometric"}
        As in `alibi_slopes`.
    symmetric : bool
        The bias falls with ``|i - j|`` on both sides of the query; otherwise the model is causal.
    source : str
        The public text that states the number of heads.
    code : str
        The public code that computes the slopes.
    scale_bias : bool or None
        The bias is multiplied by ``1 / sqrt(head_dim)``, as the content is; `alibi_attention` has
        a parameter of that name. None where the code that was read does not show it.
    note : str
        What else a port has to know.

    Examples
    --------
    >>> bloom = next(model for model in MODELS if model.name == "BLOOM")
    >>> bloom.slopes.shape, bloom.slopes[64].item() > bloom.slopes[63].item()
    ((112,), True)
    """

    name: str
    num_heads: int
    max_bias: float
    schedule: Schedule
    symmetric: bool
    source: str
    code: str
    scale_bias: bool | None = False
    note: str = ""

    @property
    def slopes(self) -> npt.NDArray[np.float64]:
        """float64 array of shape (head,): what the model's generator gives before it rounds."""
        return alibi_slopes(self.num_heads, max_bias=self.max_bias, schedule=self.schedule)

    @property
    def is_plain(self) -> bool:
        """Whether ``alibi_slopes(num_heads)`` are its slopes, and nothing scales the bias."""
        return not self.scale_bias and np.array_equal(self.slopes, alibi_slopes(self.num_heads))


_BLOOM = "github.com/huggingface/transformers, modeling_bloom.py"
_MPT = "github.com/mosaicml/llm-foundry, llmfoundry, attention.py"
_JINA = "github.com/huggingface/transformers, modular_jina_bert.py of a draft"

MODELS: tuple[Model, ...] = (
    Model(
        name="BLOOM-560m",
        num_heads=16,
        max_bias=8.0,
        schedule="reference",
        symmetric=False,
        source="huggingface.co/bigscience/bloom-560m, model card",
        code=_BLOOM,
    ),
    Model(
        name="BLOOM",
        num_heads=112,
        max_bias=8.0,
        schedule="reference",
        symmetric=False,
        source="huggingface.co/bigscience/bloom, model card",
        code=_BLOOM,
    ),
    Model(
        name="Falcon-RW-1B",
        num_heads=32,
        max_bias=8.0,
        schedule="reference",
        symmetric=False,
        source="huggingface.co/Xenova/falcon-rw-1b, config.json, made from tiiuae/falcon-rw-1b",
        code="github.com/huggingface/transformers, modeling_falcon.py",
        scale_bias=True,
        note="Rounds its slopes to bfloat16; divides the bias by √64, as it does the content.",
    ),
    Model(
        name="MPT-7B",
        num_heads=32,
        max_bias=8.0,
        schedule="reference",
        symmetric=False,
        source="huggingface.co/crashx/flax-mpt7b, config.json, made from mosaicml/mpt-7b",
        code=_MPT,
    ),
    Model(
        name="MPT-7B-StoryWriter",
        num_heads=32,
        max_bias=16.0,
        schedule="reference",
        symmetric=False,
        source="huggingface.co/mosaicml/mpt-7b-storywriter, config.json",
        code=_MPT,
        note="MptModel in transformers 4352620 takes max bias 8, whatever the configuration says.",
    ),
    Model(
        name="MPT-30B",
        num_heads=64,
        max_bias=8.0,
        schedule="reference",
        symmetric=False,
        source="huggingface.co/mosaicml/mpt-30b-chat, config.json, tuned from mpt-30b",
        code=_MPT,
    ),
    Model(
        name="Replit Code v1 3B",
        num_heads=32,
        max_bias=8.0,
        schedule="geometric",
        symmetric=False,
        source="huggingface.co/replit/replit-code-v1-3b, config.json",
        code="github.com/mosaicml/llm-foundry, examples/llm, attention.py, which it forked",
        scale_bias=None,
        note="With 32 heads both schedules are the same.",
    ),
    Model(
        name="Replit Code v1.5 3B",
        num_heads=24,
        max_bias=8.0,
        schedule="reference",
        symmetric=False,
        source="huggingface.co/replit/replit-code-v1_5-3b, config.json",
        code="github.com/huggingface/candle, mpt.rs",
    ),
    Model(
        name="Baichuan-13B",
        num_heads=40,
        max_bias=8.0,
        schedule="reference",
        symmetric=False,
        source="huggingface.co/baichuan-inc/Baichuan-13B-Base, config.json",
        code="huggingface.co/baichuan-inc/Baichuan-13B-Chat, modeling_baichuan.py",
        scale_bias=None,
    ),
    Model(
        name="JAIS-13B",
        num_heads=40,
        max_bias=8.0,
        schedule="reference",
        symmetric=False,
        source="huggingface.co/core42/jais-13b, config.json",
        code="github.com/vllm-project/vllm, jais.py",
        scale_bias=None,
        note="Divides the content by the head dimension, not by its root.",
    ),
    Model(
        name="Jina v2 small",
        num_heads=8,
        max_bias=8.0,
        schedule="reference",
        symmetric=True,
        source="huggingface.co/jinaai/jina-embeddings-v2-small-en, config.json",
        code=_JINA,
    ),
    Model(
        name="Jina v2 base",
        num_heads=12,
        max_bias=8.0,
        schedule="reference",
        symmetric=True,
        source="github.com/huggingface/candle, jina_bert.rs, after jina-embeddings-v2-base-en",
        code=_JINA,
    ),
    Model(
        name="MosaicBERT base",
        num_heads=12,
        max_bias=8.0,
        schedule="reference",
        symmetric=True,
        source="huggingface.co/mosaicml/mosaic-bert-base-seqlen-512, config.json",
        code="github.com/mosaicml/examples, bert_layers.py",
    ),
    Model(
        name="DNABERT-2",
        num_heads=12,
        max_bias=8.0,
        schedule="reference",
        symmetric=True,
        source="huggingface.co/zhihan1996/DNABERT-2-117M, config.json",
        code="github.com/millanp95/reproduce_dnabert_2, bert_layers.py",
    ),
)
"""Published models whose facts were read, none of them remembered."""
