from alibi_core import lesson


def test_tokens_and_content_logits(figures):
    """The lesson's sentence and content logits are the stated ones."""
    assert list(lesson.TOKENS) == figures["opening"]["tokens"]
    assert list(lesson.CONTENT_LOGITS) == figures["content_logits"]
    assert lesson.CONTENT_LOGITS[figures["opening"]["key"]] == figures["opening"]["content_logit"]


def test_no_content_logits_tie_at_the_opening_key(figures):
    """The opening key has the largest content logit of all, alone."""
    logits = list(lesson.CONTENT_LOGITS)
    assert logits.count(max(logits)) == 1
    assert logits.index(max(logits)) == figures["opening"]["key"]


def test_opening_choice(figures):
    """The lesson opens with the stated query, key, head and number of heads."""
    stated = {name: figures["opening"][name] for name in ("num_heads", "head", "query", "key")}
    assert stated.items() <= lesson.OPENING.items()
    assert lesson.OPENING.keys() == {"head", *lesson.CHOICES}
    assert all(lesson.OPENING[name] in choices for name, choices in lesson.CHOICES.items())


def test_paper_result(figures):
    """The paper's result is stated with its conditions."""
    stated, result = figures["paper"], lesson.PAPER_RESULT
    assert f"{result.billion_parameters} billion" == stated["parameters"]
    assert [result.train_tokens, result.test_tokens] == [
        stated["train_tokens"],
        stated["test_tokens"],
    ]
    assert result.less_memory_percent == stated["less_memory_percent"]
    assert result.faster_percent == stated["faster_percent"]


def test_head_counts():
    """The lesson offers 1 to 16 heads."""
    assert list(lesson.HEAD_COUNTS) == list(range(1, 17))


def test_documented_figures(figures):
    """`FIGURES` holds the stated figures, each with its value, and no others."""
    opening, long_distance = figures["opening"], figures["long_distance_bias"]
    slope = long_distance["slope"]
    assert {name: figure.value for name, figure in lesson.FIGURES.items()} == {
        "opening distance": opening["distance"],
        "opening slope": opening["slope"],
        "opening distance bias": opening["distance_bias"],
        "opening content logit": opening["content_logit"],
        "opening biased logit": opening["biased_logit"],
        "opening weight with ALiBi": opening["alibi_weight_percent"],
        "opening weight without ALiBi": opening["plain_weight_percent"],
        "opening allowed keys": opening["allowed_keys"],
        "slopes of 4 heads": tuple(figures["slopes"]["4"]),
        "slopes of 6 heads": tuple(figures["slopes"]["6"]),
        "slopes of 8 heads": tuple(figures["slopes"]["8"]),
        "slope ratio of 4 heads": figures["slope_ratio"]["4"],
        "slope ratio of 8 heads": figures["slope_ratio"]["8"],
        f"bias at distance 1023, slope {slope}": long_distance["1023"],
        f"bias at distance 2047, slope {slope}": long_distance["2047"],
    }


def test_every_figure_names_its_source_and_unit():
    """Each figure says which text states it and in which unit."""
    for figure in lesson.FIGURES.values():
        assert figure.source.startswith(lesson.LESSON)
        assert figure.unit in {"tokens", "keys", "logits", "logits per token", "percent", "ratio"}
