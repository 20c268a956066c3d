"""One step of virtual adversarial training."""

import torch
from torch.nn import functional

from gpgc_lab.image_networks.adversarial import adversarial_loss, entropy
from gpgc_lab.image_networks.arithmetic import arithmetic
from gpgc_lab.image_networks.checkpoint import TrainingRun
from gpgc_lab.image_networks.image_labels import ImageLabels
from gpgc_lab.image_networks.schedule import Schedule
from gpgc_lab.image_networks.views import ImageViews, draw


def take_adversarial_step(
    run: TrainingRun, schedule: Schedule, views: ImageViews, task: ImageLabels
) -> dict[str, float]:
    """One step of Adam; returns the cross-entropy, the adversarial loss and the entropy."""
    side = schedule.side(run.step, views.side)
    warm = run.step < schedule.warm_up
    chosen = draw(len(task.labelled), schedule.warm_up_batch if warm else schedule.labelled_batch)
    labelled = views.augmented(task.labelled[chosen], side, schedule.augmentation)
    losses = [torch.zeros(()), torch.zeros(())]
    with arithmetic(schedule.precision):
        cross_entropy = functional.cross_entropy(run.network(labelled), task.labels[chosen])
        loss = cross_entropy
        if not warm:
            drawn = draw(len(views), schedule.unlabelled_batch)
            unlabelled = views.augmented(drawn, side, schedule.augmentation)
            logits = run.network(unlabelled)
            epsilon = schedule.epsilon * side / views.side
            losses = [adversarial_loss(run.network, unlabelled, logits, epsilon), entropy(logits)]
            loss = loss + schedule.adversarial_weight(run.step) * (losses[0] + losses[1])
    run.optimiser.zero_grad()
    torch.autograd.backward(loss)
    run.optimiser.step()
    return {
        "cross_entropy": cross_entropy.item(),
        "adversarial": losses[0].item(),
        "entropy": losses[1].item(),
    }
