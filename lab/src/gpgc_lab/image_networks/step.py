"""One step of training, and the answers of a network."""

import torch
from torch import Tensor

from gpgc_lab.image_networks.adversarial_step import take_adversarial_step
from gpgc_lab.image_networks.arithmetic import arithmetic
from gpgc_lab.image_networks.base_schedule import BaseSchedule
from gpgc_lab.image_networks.checkpoint import TrainingRun
from gpgc_lab.image_networks.image_labels import ImageLabels
from gpgc_lab.image_networks.networks import FeatureNetwork
from gpgc_lab.image_networks.pseudo_label_schedule import PseudoLabelSchedule
from gpgc_lab.image_networks.pseudo_label_step import take_pseudo_label_step
from gpgc_lab.image_networks.schedule import Schedule
from gpgc_lab.image_networks.views import ImageViews


def take_step(run: TrainingRun, views: ImageViews, task: ImageLabels) -> dict[str, float]:
    """Take one step of the optimiser; return the losses by name, ``cross_entropy`` among them."""
    for group in run.optimiser.param_groups:
        group["lr"] = run.schedule.learning_rate_at(run.step)
    run.network.train()
    schedule = run.schedule
    if isinstance(schedule, PseudoLabelSchedule):
        losses = take_pseudo_label_step(run, schedule, views, task)
    elif isinstance(schedule, Schedule):
        losses = take_adversarial_step(run, schedule, views, task)
    else:
        raise TypeError(f"no kind of training takes a {type(schedule).__name__}")
    run.step += 1
    return losses


def validation_accuracy(run: TrainingRun, views: ImageViews, task: ImageLabels, side: int) -> float:
    """Fraction of the validation images, at a size, that the run's network gets right."""
    _, logits = answers(run.judged(), views, task.validation, side, run.schedule)
    return float((logits.argmax(dim=1) == task.validation_labels).double().mean())


@torch.inference_mode()
def answers(
    network: FeatureNetwork, views: ImageViews, index: Tensor, side: int, schedule: BaseSchedule
) -> tuple[Tensor, Tensor]:
    """Features and logits of the images of an index.

    Where the schedule says so both are means over an image and its mirror image.
    """
    features, logits = [], []
    with arithmetic(schedule.precision):
        for part in torch.split(index, 250):
            images = views.plain(part, side)
            copies = [images, images.flip(-1)] if schedule.mirror_answers else [images]
            hidden = [network.features(copy).float() for copy in copies]
            features.append(torch.stack(hidden).mean(dim=0))
            logits.append(torch.stack([network.classifier(h) for h in hidden]).mean(dim=0).float())
    return torch.cat(features), torch.cat(logits)
