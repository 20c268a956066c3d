"""One step of training, and the answers of a network."""

import torch
from torch import Tensor
from torch.nn import functional

from gpgc_lab.image_networks.adversarial import adversarial_loss, entropy
from gpgc_lab.image_networks.checkpoint import TrainingRun
from gpgc_lab.image_networks.conv_large import ConvLarge
from gpgc_lab.image_networks.image_labels import ImageLabels
from gpgc_lab.image_networks.views import ImageViews


def take_step(run: TrainingRun, views: ImageViews, task: ImageLabels) -> tuple[float, float, float]:
    """One step of Adam; returns the cross-entropy, the adversarial loss and the entropy."""
    schedule, network = run.schedule, run.network.train()
    side = schedule.side(run.step, views.side)
    warm = run.step < schedule.warm_up
    for group in run.optimiser.param_groups:
        group["lr"] = schedule.learning_rate_at(run.step)

    chosen = _draw(len(task.labelled), schedule.warm_up_batch if warm else schedule.labelled_batch)
    labelled = views.augmented(task.labelled[chosen], side, schedule)
    losses = [torch.zeros(()), torch.zeros(())]
    with _arithmetic(schedule.precision):
        cross_entropy = functional.cross_entropy(network(labelled), task.labels[chosen])
        loss = cross_entropy
        if not warm:
            drawn = _draw(len(views), schedule.unlabelled_batch)
            unlabelled = views.augmented(drawn, side, schedule)
            logits = network(unlabelled)
            epsilon = schedule.epsilon * side / views.side
            losses = [adversarial_loss(network, unlabelled, logits, epsilon), entropy(logits)]
            loss = loss + schedule.adversarial_weight(run.step) * (losses[0] + losses[1])
    run.optimiser.zero_grad()
    torch.autograd.backward(loss)
    run.optimiser.step()
    run.step += 1
    return cross_entropy.item(), losses[0].item(), losses[1].item()


def _draw(population: int, count: int) -> Tensor:
    return torch.randperm(population)[:count]


def _arithmetic(precision: str) -> torch.autocast:
    return torch.autocast("cpu", torch.bfloat16, enabled=precision == "bfloat16")


def validation_accuracy(
    network: ConvLarge, views: ImageViews, task: ImageLabels, side: int, precision: str
) -> float:
    """Share of the validation images, at a size, that the network gets right."""
    _, logits = answers(network.eval(), views, task.validation, side, precision)
    return float((logits.argmax(dim=1) == task.validation_labels).double().mean())


@torch.inference_mode()
def answers(
    network: ConvLarge, views: ImageViews, index: Tensor, side: int, precision: str
) -> tuple[Tensor, Tensor]:
    """Features and logits of the images of an index."""
    features, logits = [], []
    with _arithmetic(precision):
        for part in torch.split(index, 250):
            hidden = network.features(views.plain(part, side)).float()
            features.append(hidden)
            logits.append(network.classifier(hidden).float())
    return torch.cat(features), torch.cat(logits)
