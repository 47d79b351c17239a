"""Settings of imitation that make no sense."""

import pytest

from jaxgames.algos.imitation import ImitationConfig


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"policy_loss": "hinge"}, "policy_loss 'hinge': expected one of cross_entropy, squared, absolute"),
        ({"learns": "value"}, "plays=policy, but it learns only the value"),
        ({"head": "target"}, "head=target learns moves only"),
        ({"head": "target", "learns": "policy"}, "head=target learns by policy_loss=squared or absolute"),
        ({"head": "target", "form": "conv"}, "head=target has no effect without form=mlp"),
        ({"form": "windows"}, "form 'windows': expected one of mlp, residual, conv"),
        (
            {"learns": "policy", "value_loss": "absolute"},
            "value_loss=absolute has no effect without learns=both or value",
        ),
        ({"optimizer": "sgd", "weight_decay": 0.1}, "weight_decay=0.1 has no effect without optimizer=adamw"),
        ({"validation": 0.0}, "validation 0.0: expected a number above 0"),
        ({"validation": 1.0}, "expected a share above 0 and below 1"),
        ({"minibatch": 0}, "minibatch 0: expected a whole number from 1 on"),
        ({"step_size": 0.0}, "expected a number above 0"),
    ],
)
def test_settings_that_make_no_sense_are_one_line(changes, line):
    with pytest.raises(ValueError, match=line):
        ImitationConfig().replace(**changes)
