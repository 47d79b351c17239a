import random

import pytest

from jaxgames.envs.checkers import notation, plain_board
from jaxgames.envs.checkers.pdn import RESULTS, PDNGame, read_games, write_game
from jaxgames.envs.checkers.plain_board import START, Board
from tests.envs.checkers import reference


def random_game(draw, start=reference.START, most=120):
    """A game of random whole moves, by the rule book."""
    position, played = start, []
    while len(played) < most and (found := reference.whole_moves(position)):
        actions, _, position = draw.choice(found)
        played.append(actions)
    tags = {
        "Event": f'round "{draw.randint(1, 9)}" \\ {{1}}; [x]',
        "Black": "Pryor, J.",
        "White": "",
        "Date": "????.??.??",
    }
    board = Board(*reference.plain(start))
    return PDNGame(tags, board, played, draw.choice(RESULTS))


@pytest.fixture(scope="module")
def games():
    """Games from the first position, and from others, some of which begin within a move."""
    draw = random.Random(3)
    middles = [position for game in reference.random_games(draw, 20) for position in game if position.jumper]
    middles += [random.Random(4).choice(game) for game in reference.random_games(draw, 10)]
    assert len(middles) > 20 and {position.mover for position in middles} == {"b", "w"}
    return [random_game(draw) for _ in range(15)] + [random_game(draw, position, 12) for position in middles]


def squares_of(game):
    """The moves of a game as their squares."""
    board, found = game.start, []
    for actions in game.moves:
        found.append(plain_board.move_to_string(board, actions))
        for action in actions:
            board, _ = plain_board.apply_action(board, action)
    return found


def test_written_games_are_read_back(games):
    texts = [write_game(game) for game in games]
    assert [read_games(text) for text in texts] == [[game] for game in games]
    assert read_games("\n".join(texts)) == games
    assert read_games("".join(texts).replace("\n", "\r\n")) == games
    assert max(len(line) for text in texts for line in text.split("\n\n")[1].splitlines()) in range(70, 81)


def test_games_cut_off_are_noticed(games):
    """Wherever a file ends within a game, reading fails."""
    text = write_game(games[15])
    for end in range(1, len(text.rstrip())):
        if text[:end].rstrip().endswith(games[15].result):  # within the tags a result is no result yet
            continue
        with pytest.raises(ValueError, match="^line [0-9]+, column [0-9]+: "):
            read_games(text[:end])


def test_a_written_game():
    board, played = START, []
    for text in "12-16 23-18 16-19 24x15 10x19 18-14 9x18 22x15 11x18 27-23 18x27".split():
        played.append(tuple(plain_board.move_to_actions(board, text)))
        board, _ = plain_board.apply_action(board, played[-1][0])
    game = PDNGame({"Event": 'The "Dundee"'}, START, played, "1/2-1/2")
    assert write_game(game).splitlines() == [
        r'[Event "The \"Dundee\""]',
        '[Result "1/2-1/2"]',
        '[GameType "21"]',
        "",
        "1. 12-16 23-18 2. 16-19 24x15 3. 10x19 18-14 4. 9x18 22x15 5. 11x18 27-23",
        "6. 18x27 1/2-1/2",
    ]
    rest = PDNGame({}, board, [tuple(plain_board.move_to_actions(board, "32x16"))])
    assert write_game(rest).splitlines() == [
        '[Result "*"]',
        '[GameType "21"]',
        '[SetUp "1"]',
        f'[FEN "{notation.unparse(board)}"]',
        "",
        "1... 32x23x16 *",
    ]


ANNOTATED = """\
% two games, as people write them
[Event "Casual; a {game}"]
[Black "One \\"first\\""]
[White "Two"]
[Result "0-1"]
[GameType "21,B,8,8,N1,0"]

{Every comment (with brackets), even
over two lines} 1. 12-16! 23-18 $2 ; to the end of the line 9-14
2. 16-19(?) (2. 9-14 18x9 {a variation (of a kind} (2. 9-13 would be worse) 5x14) 2... 24x15
3. 10x19 18-14 4. 09x18 22-15 !? 5. 11:18 27-23 6. 18x27 32x16 0-1

1. 12-16 24-20 2. 8-12* 28-24 {no tags here} *
[SetUp "1"]
[FEN "W:W22,32:B10,9,17,18"]
1. ... 22x13x6 2. 10-14 1-0
[Result "?"] [SetUp "0"] *
"""


def test_annotated_games():
    first, second, third, fourth = read_games("\ufeff" + ANNOTATED)
    assert first.tags == {"Event": "Casual; a {game}", "Black": 'One "first"', "White": "Two"}
    expected = "12-16 23-18 16-19 24x15 10x19 18-14 9x18 22x15 11x18 27-23 18x27 32x23x16"
    assert squares_of(first) == expected.split()
    assert first.result == "0-1" and first.start == START
    assert squares_of(second) == "12-16 24-20 8-12 28-24".split()
    assert second.tags == {} and second.result == "*"
    assert third.start == notation.parse("W:W22,32:B9,10,17,18") and third.result == "1-0"
    assert squares_of(third) == ["22x13x6", "10-14"]
    assert fourth == PDNGame()


def test_results():
    assert read_games('[Result "1-0"]\n1. 11-15 *')[0].result == "1-0"
    assert read_games('[Result "*"]\n1. 11-15 1-0')[0].result == "1-0"
    assert read_games("1. 11-15 0-0")[0].result == "0-0"
    assert read_games("") == read_games(" ; nothing\n{at all}\n% here") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1. 11-15 23-19", "line 1, column 1: the text ends within the game that begins here; a game ends with its"),
        ('\n[Event "a"]\n', "line 2, column 1: the text ends within the game that begins here"),
        ('1. 11-15\n [Event "b"] *', "line 2, column 2: the game that begins in line 1 has not ended; a game ends"),
        ("1. 11-15\n {never ends", "line 2, column 2: this comment is never closed"),
        ("1. 11-15 }", "line 1, column 10: no comment is open"),
        ("1. 11-15 (23-19 (23-18) *", "line 1, column 10: this variation is never closed"),
        ('1. 11-15 (23-19\n[Event "b"]', "line 1, column 10: this variation is never closed"),
        ("1. 11-15 23-19)", "line 1, column 15: no variation is open"),
        ('[Event "a]\n*', r"line 1, column 1: this is no tag; write it in one line, as \[Event"),
        ("[Event a]\n*", "line 1, column 1: this is no tag"),
        ("1. 11-15 ] *", "line 1, column 10: no tag is open"),
        ('[Event "a"]\n[Event "b"]\n*', "line 2, column 1: the tag Event is given twice"),
        ("1. 11-15 23-19\n2. hello *", r"line 2, column 4: 'hello' is neither a move \(11-15, 22x15\), nor its number"),
        ("1. 11-15 23 *", "line 1, column 10: '23' is neither a move"),
        ("*", r"line 1, column 1: there is no game before the result \*"),
        ("1. 11-15 1-0 1-0", "line 1, column 14: there is no game before the result 1-0"),
        ("1. 11-15 22-18\n2. 9-13 *", "line 2, column 4: move '9-13': a capture is forced: 15x22"),
        ("1. 11x15 *", "line 1, column 4: move '11x15': nothing is captured; write 11-15"),
        ("1. 11-15 33-28 *", "line 1, column 10: move '33-28': 33 is no square"),
        (
            '[FEN "W:W22:B9,10,17,18"] 22x6 *',
            "line 1, column 27: move '22x6' is ambiguous; it may be 22x15x6 or 22x13x6",
        ),
        ('[FEN "W:W:B1"]\n1. 1-5 *', "line 2, column 4: move '1-5': the game is over: White cannot move"),
        ('[Event "a"]\n[FEN "B:W33:B1"]\n*', r"line 2, column 7: position 'B:W33:B1', character 4 \('3'\): 33 is no"),
        ('[SetUp "1"]\n*', "line 1, column 1: SetUp 1 announces a position, but there is no FEN tag"),
        ('[SetUp "0"]\n[FEN "B:W21:B1"] *', "line 1, column 1: with a FEN tag SetUp must be 1, not '0'"),
        ('[GameType "20"]\n*', "line 1, column 12: game type '20' is international draughts; English draughts is 21"),
        ('[GameType "99"]\n*', "line 1, column 12: game type '99' is another game"),
        (
            '[GameType "21,B,8,8,A1,0"]\n*',
            "line 1, column 12: game type '21,B,8,8,A1,0' does not name squares by numbers",
        ),
        ('[Result "2-0"]\n*', "line 1, column 10: result '2-0' is unknown; it must be one of 1-0, 0-1, 1/2-1/2, 0-0"),
        ('[Result "1-0"]\n1. 11-15 0-1', "line 2, column 10: the result 0-1 contradicts the tag, which says 1-0"),
    ],
)
def test_errors_point_at_line_and_column(text, message):
    with pytest.raises(ValueError, match="^" + message) as error:
        read_games(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("game", "message"),
    [
        (PDNGame(result="2-0"), "result '2-0' is unknown; it must be one of 1-0, 0-1"),
        (PDNGame(tags={"Result": "1-0"}), "the tag Result cannot be given: the game's result says it"),
        (PDNGame(tags={"FEN": "B:W21:B1"}), "the tag FEN cannot be given: the game's start says it"),
        (PDNGame(tags={"GameType": "20"}), "the tag GameType cannot be given: it is always 21"),
        (PDNGame(tags={"My tag": ""}), "tag name 'My tag' must be letters, digits and _"),
        (PDNGame(tags={"Event": "a\nb"}), "the tag Event must be a text of one line"),
        (PDNGame(moves=[(40,), (0,)]), "move 2 of the game: action 0 is not legal: the piece on 32 cannot move"),
        (PDNGame(start=notation.parse("W:W22:B9,17"), moves=[(40,)]), "move 1 of the game: "),
    ],
)
def test_games_that_cannot_be_written(game, message):
    with pytest.raises(ValueError, match=message):
        write_game(game)
