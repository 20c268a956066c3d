"""One step of training with pseudo-labels."""

import torch
from torch.nn import functional

from gpgc_lab.image_networks.arithmetic import arithmetic
from gpgc_lab.image_networks.checkpoint import TrainingRun
from gpgc_lab.image_networks.image_labels import ImageLabels
from gpgc_lab.image_networks.pseudo_label_schedule import PseudoLabelSchedule
from gpgc_lab.image_networks.views import ImageViews, draw


def take_pseudo_label_step(
    run: TrainingRun, schedule: PseudoLabelSchedule, views: ImageViews, task: ImageLabels
) -> dict[str, float]:
    """One step of gradient descent; returns the losses and the fraction that got a label."""
    if run.average is None:
        raise TypeError("a run with pseudo-labels has an average of its weights")
    chosen = draw(len(task.labelled), schedule.labelled_batch)
    images = views.augmented(task.labelled[chosen], views.side, schedule.augmentation)
    if run.step >= schedule.warm_up:
        drawn = draw(len(views), schedule.unlabelled_batch)
        weak = views.augmented(drawn, views.side, schedule.augmentation.weak())
        frequency = torch.bincount(task.labels, minlength=task.classes) / len(task.labels)
        with arithmetic(schedule.precision):
            guessed, sureness = run.average.pseudo_labels(weak, frequency)
        strong = views.augmented(drawn, views.side, schedule.augmentation)
        images = torch.cat([images, strong])
    with arithmetic(schedule.precision):
        logits = run.network(images)
    cross_entropy = functional.cross_entropy(
        logits[: len(chosen)], task.labels[chosen], label_smoothing=schedule.smoothing
    )
    loss, pseudo, sure = cross_entropy, torch.zeros(()), torch.zeros(())
    if run.step >= schedule.warm_up:
        each = functional.cross_entropy(logits[len(chosen) :], guessed, reduction="none")
        certain = (sureness > schedule.threshold).float()
        pseudo, sure = (each * certain).mean(), certain.mean()
        loss = loss + pseudo
    run.optimiser.zero_grad()
    torch.autograd.backward(loss)
    run.optimiser.step()
    run.average.update(run.network, run.step, schedule.average)
    return {
        "cross_entropy": cross_entropy.item(),
        "pseudo_labels": pseudo.item(),
        "labelled_fraction": sure.item(),
    }
