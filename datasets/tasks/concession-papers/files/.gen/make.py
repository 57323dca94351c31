"""Writes the papers of a ferry concession: minutes, contracts, letters, reports. Same seed, same bytes."""
import random
from pathlib import Path

r = random.Random(77)
out = Path("papers")
out.mkdir()
SHIPS = ["Merle", "Tern", "Osprey"]
PIERS = ["North Pier", "Abbey Steps", "Mill Landing", "Old Lock", "Saltworks"]
PEOPLE = ["Councillor Brandt", "Councillor Ilves", "Councillor Okoye", "the mayor", "the harbour master", "the treasurer"]
MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]
say = lambda *options: r.choice(options)
big = lambda text: text[0].upper() + text[1:]
number = 100

def paper(name, title, *parts):
    global number
    number += r.randrange(1, 5)
    (out / f"{number}-{name}.txt").write_text(f"{title}\nPaper {number}\n\n" + "\n\n".join(parts) + "\n")

FIXED = {
    (2021, 3): "6. Ferry concession. The council grants the concession for the lake ferries to Halden Shipping from 1 May 2021 to 30 April 2029 (contract: paper on the concession). The yearly fee is 48,000 and is due on 1 March for the year that begins in May. Councillor Ilves votes against, because no other bidder was asked.",
    (2022, 9): "4. Ferry concession. Halden Shipping asks to drop the stop at Old Lock from November to March. The council agrees for two winters, on condition that the fee is not lowered and that school children are taken by bus at Halden's cost.",
    (2023, 2): "5. Ferry concession. The treasurer reports that the fee for 2023 was paid on 21 March 2023... the clerk notes that this entry was corrected: payment arrived on 21 February 2023.",
    (2023, 11): "3. Ferry concession. First amendment: from 1 January 2024 the fee is 52,500, and the service at Abbey Steps is to run until 22:30 on Fridays and Saturdays. The mayor signs. The amendment says nothing of Old Lock.",
    (2024, 6): "7. Ferry concession. The harbour master reports 31 missed departures in May, 19 of them at Mill Landing, because the Tern was in repair. By clause 14 a deduction of 150 for each missed departure above 10 in a month would be due: 21 departures, 3,150. The council asks Halden to state its view.",
    (2024, 8): "2. Ferry concession. Halden's view (letter of 22 July): the repair was force majeure, since the yard was closed by the flood. The council does not accept this for departures after 12 May, on which the yard worked again. The harbour master counts 14 missed departures after 12 May; above the 10 that leaves 4, and the deduction is set at 600.",
    (2025, 2): "5. Ferry concession. The two winters at Old Lock are over. Halden dropped the stop again in November 2024 without asking. The council instructs the clerk to write. Councillor Okoye asks whether clause 9 (notice) applies; the clerk will look.",
    (2025, 10): "4. Ferry concession. Second amendment, signed on 14 October 2025: the concession is prolonged to 30 April 2031, the fee becomes 55,000 from 1 May 2026, Old Lock is served from April to October only, and the limit in clause 14 is lowered from 10 to 6 missed departures a month from 1 January 2026.",
    (2026, 3): "6. Ferry concession. The harbour master reports 17 missed departures in January 2026 and 5 in February. The treasurer asks for the deduction to be computed. The clerk is to lay a paper before the next meeting.",
}
OTHER = [
    lambda: f"The roof of the {say('school', 'boat house', 'fire station', 'library')} is to be repaired before {say(*MONTHS)}. {big(say(*PEOPLE))} names a sum of {r.randrange(8, 90)},{r.randrange(1, 9)}00. {say('Agreed.', 'Agreed with one vote against.', 'Put off.', 'Two more offers are to be asked for.')}",
    lambda: f"{big(say(*PEOPLE))} reports on the {say('market', 'lantern walk', 'regatta', 'harvest fair')}: {r.randrange(300, 4000)} visitors, {say('no complaints', 'complaints about noise after eleven', 'a broken railing at ' + say(*PIERS))}. {say('The council thanks the helpers.', 'The railing is to be mended by the works yard.', 'Stalls pay 5 more next year.')}",
    lambda: f"Water: the pumping station at {say(*PIERS)} used {r.randrange(40, 99)},{r.randrange(100, 999)} kWh in the half-year. {say('The pump is twenty years old.', 'The reserve pump was tested.', 'A leak at the bridge was found and closed.')} {big(say(*PEOPLE))} asks for figures of each month.",
    lambda: f"Parking at {say(*PIERS)}: {say('an hour is free from now on', 'the fee stays at 1.20 an hour', 'residents get a yellow card')}. {say('Signs follow.', 'The machine takes coins only.', 'To be looked at again in a year.')} Carried with {r.randrange(4, 9)} votes to {r.randrange(0, 4)}.",
    lambda: f"The ship {say(*SHIPS)} was inspected in {say(*MONTHS)}: hull {say('sound', 'sound, paint due')}, engine {r.randrange(4, 29)},{r.randrange(100, 999)} hours, life vests {r.randrange(60, 130)}. {say('Next inspection in a year.', 'Fire extinguishers to be exchanged.', 'The radio was replaced.')}",
    lambda: f"Passengers in {say(*MONTHS)}: {r.randrange(3, 21)},{r.randrange(100, 999)}, of whom {r.randrange(200, 2900)} with a bicycle. Most boarded at {say(*PIERS)}. {say('The figures are the ferry company’s own.', 'The counting strip at Old Lock was out of order.', 'Compared with the year before: a little more.')}",
    lambda: f"A letter from the residents of {say(*PIERS)} about {say('the horn of the ' + say(*SHIPS) + ' at six in the morning', 'bicycles on the landing stage', 'lamps that are out since ' + say(*MONTHS), 'litter after the regatta')}. {say('The clerk answers.', 'Handed to the harbour master.', 'Noted.')}",
]
for year in range(2021, 2027):
    for month in (2, 3, 6, 8, 9, 10, 11) if year < 2026 else (2, 3):
        if (year, month) < (2021, 3):
            continue
        items = [r.choice(OTHER)() for _ in range(r.randrange(9, 14))]
        fixed = FIXED.get((year, month))
        if fixed:
            items.insert(int(fixed[0]) - 1, fixed[3:])
        items = [f"{k}. {item}" for k, item in enumerate(items, 1)]
        paper(f"minutes-{year}-{month:02}", f"Minutes of the town council, {MONTHS[month - 1]} {year}", f"Present: {r.randrange(7, 12)} members. The minutes of the last meeting are approved.", *items, f"Closed at {r.randrange(20, 23)}:{r.choice(['05', '20', '40', '55'])}.")
paper("concession", "Contract on the concession for the lake ferries", "between the town and Halden Shipping, signed on 19 March 2021.",
      "1. Halden runs the ferries between North Pier, Abbey Steps, Mill Landing, Old Lock and Saltworks with at least two ships.",
      "4. The fee of clause 3 is 48,000 a year, due on 1 March for the year that begins on 1 May. If it comes later, 2 percent of it are added for each month begun.",
      "9. A change of the stops or of the timetable needs notice of 60 days in writing and the consent of the council. A stop that is dropped without consent counts as missed with each departure of the timetable, but at most 8 departures a month are counted for one stop.",
      "12. Force majeure frees Halden from its duties for as long as it lasts, if it is told to the harbour master within 3 days.",
      "14. For each missed departure above 10 in a calendar month 150 are deducted from the next fee. Departures missed under clause 9 count. The deduction of a year is at most 6 percent of the fee of that year.",
      "17. The contract ends on 30 April 2029. Amendments need the signatures of the mayor and of Halden's director.")
paper("amendment-1", "First amendment to the concession contract", "signed by the mayor on 30 November 2023 and by Halden's director on 4 December 2023, valid from 1 January 2024.",
      "1. The fee in clause 4 becomes 52,500, first for the year that begins on 1 May 2024.", "2. Abbey Steps is served until 22:30 on Fridays and Saturdays.", "3. In clause 14 the deduction of 150 becomes 180.")
paper("amendment-2", "Second amendment to the concession contract", "signed by the mayor on 14 October 2025 and by Halden's director on 3 November 2025.",
      "1. The contract ends on 30 April 2031.", "2. The fee is 55,000, first for the year that begins on 1 May 2026.", "3. Old Lock is served from April to October. From November to March it is no stop of the timetable.",
      "4. In clause 14 the number 10 becomes 6 from 1 January 2026.", "5. In clause 14 the last sentence is: The deduction of a calendar year is at most 5 percent of the fee that is due in that year.")
paper("letter-halden-2024-07", "Letter of Halden Shipping, 22 July 2024", "To the town council. The Tern lay at the yard from 2 May; the yard was closed by the flood from 4 to 12 May. We told the harbour master on 6 May by telephone. We hold that all missed departures of May are force majeure under clause 12. Director A. Quist.")
paper("letter-clerk-2025-03", "Letter of the town clerk to Halden Shipping, 3 March 2025", "You dropped the stop at Old Lock from 4 November 2024 without consent. Clause 9 applies. The timetable has 2 departures a day at Old Lock in winter. Please state by 31 March when the stop is served again.")
paper("letter-halden-2025-03", "Letter of Halden Shipping, 28 March 2025", "We serve Old Lock again from 1 April. We took the consent of 2022 as given for all winters. Director A. Quist.")
for year, months in ((2024, (5, 11, 12)), (2025, (1, 2, 3)), (2026, (1, 2))):
    for month in months:
        missed = {(2024, 5): 31, (2024, 11): 7, (2024, 12): 4, (2025, 1): 9, (2025, 2): 3, (2025, 3): 5, (2026, 1): 17, (2026, 2): 5}[year, month]
        note = "Old Lock was not served; its departures are not in the number." if (year, month) in ((2024, 11), (2024, 12), (2025, 1), (2025, 2), (2025, 3)) else "All stops of the timetable are in the number."
        days = "\n".join(f"{d:>2} {MONTHS[month - 1]}: {r.randrange(22, 31)} departures, wind {r.randrange(1, 8)}, {say('no remarks', 'no remarks', 'fog until ten', 'ice at Saltworks', say(*SHIPS) + ' late by ' + str(r.randrange(5, 40)) + ' minutes', 'school class on board')}" for d in range(1, 29))
        paper(f"harbour-{year}-{month:02}", f"Report of the harbour master, {MONTHS[month - 1]} {year}", f"Missed departures: {missed}. {note}", days)
paper("treasurer-2026", "Payments of Halden Shipping, as of 10 March 2026", "2021: 48,000 on 28 February 2021.\n2022: 48,000 on 1 March 2022.\n2023: 48,000 on 21 February 2023.\n2024: 52,500 on 29 February 2024.\n2025: 51,900 on 14 April 2025 (deduction of 600 taken off by Halden).\n2026: 55,000 on 27 February 2026.")
