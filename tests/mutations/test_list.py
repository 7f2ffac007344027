from tests.mutations.listed import faults, mutations


def test_every_mutation_applies_to_one_place():
    assert list(faults()) == []


def test_no_two_mutations_are_the_same():
    changes = [(mutation.file, mutation.old, mutation.new) for mutation in mutations()]

    assert len(set(changes)) == len(changes) >= 100
