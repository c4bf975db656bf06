"""Exports of banks and payment services. All people and accounts are invented."""

from core import Item, text

DE = {"encoding": "windows-1252", "delimiter": ";"}
LONG = "%d.%m.%Y"

SPARKASSE = '''"Auftragskonto";"Buchungstag";"Valutadatum";"Buchungstext";"Verwendungszweck";"Glaeubiger ID";\
"Mandatsreferenz";"Kundenreferenz (End-to-End)";"Sammlerreferenz";"Lastschrift Ursprungsbetrag";\
"Auslagenersatz Ruecklastschrift";"Beguenstigter/Zahlungspflichtiger";"Kontonummer/IBAN";"BIC (SWIFT-Code)";"Betrag";\
"Waehrung";"Info"
"DE89370400440532013000";"31.01.24";"31.01.24";"FOLGELASTSCHRIFT";"Abschlag Strom Januar";"DE98ZZZ09999999999";\
"M-4711";"E2E-001";"";"";"";"Stadtwerke Düsseldorf AG";"DE02120300000000202051";"BYLADEM1001";"-84,00";"EUR";\
"Umsatz gebucht"
"DE89370400440532013000";"30.01.24";"30.01.24";"GUTSCHR. UEBERWEISUNG";"Lohn/Gehalt 01/2024";"";"";"";"";"";"";\
"Müller & Söhne GmbH";"DE02500105170137075030";"INGDDEFF";"2.417,35";"EUR";"Umsatz gebucht"
"DE89370400440532013000";"29.01.24";"29.01.24";"KARTENZAHLUNG";"2024-01-28T17:03 Debitk.0 VISA Debit";"";"";"";"";"";\
"";"BÄCKEREI GROß//KÖLN/DE";"";"";"-7,85";"EUR";"Umsatz gebucht"
"DE89370400440532013000";"02.02.24";"02.02.24";"ENTGELTABSCHLUSS";"Entgelte vom 29.12.2023 bis 31.01.2024";"";"";"";"";\
"";"";"";"0000000000";"";"-4,90";"EUR";"Umsatz vorgemerkt"
'''

DKB = '''"Girokonto";"DE02120300000000202051"
""
"Kontostand vom 05.02.2024:";"1.234,56 €"
""
"Buchungsdatum";"Wertstellung";"Status";"Zahlungspflichtige*r";"Zahlungsempfänger*in";"Verwendungszweck";"Umsatztyp";\
"IBAN";"Betrag (€)";"Gläubiger-ID";"Mandatsreferenz";"Kundenreferenz"
"05.02.24";"05.02.24";"Gebucht";"Jürgen Weiß";"Wohnungsgenossenschaft Süd eG";"Miete Februar 2024";"Ausgang";\
"DE02100500000054540402";"-1.080,00";"";"";"NOTPROVIDED"
"02.02.24";"02.02.24";"Gebucht";"Finanzkasse Köln-Süd";"Jürgen Weiß";"ERSTATTUNG EST 2022";"Eingang";\
"DE02300209000106531065";"312,77";"";"";""
"01.02.24";"01.02.24";"Gebucht";"Jürgen Weiß";"REWE SAGT DANKE. 4711";\
"VISA Debitkartenumsatz";"Ausgang";"";"-54,3";"";"";""
'''

ING = '''Umsatzanzeige;Datei erstellt am: 03.02.2024 10:15
;Letztes Update: aktuell

IBAN;DE02 5001 0517 0137 0750 30
Kontoname;Girokonto
Bank;ING
Kunde;Jörg Schäfer
Zeitraum;01.01.2024 - 31.01.2024
Saldo;2.345,67;EUR

Sortierung;Datum absteigend

In der CSV-Datei finden Sie alle bereits gebuchten Umsätze. Die vorgemerkten Umsätze werden nicht aufgenommen.

Buchung;Valuta;Auftraggeber/Empfänger;Buchungstext;Verwendungszweck;Saldo;Währung;Betrag;Währung
31.01.2024;31.01.2024;Käserei Östermann;Lastschrift;Rechnung 2024-17;2.345,67;EUR;-42,50;EUR
30.01.2024;30.01.2024;VISA PAYPAL *MUSIC;Lastschrift;NR8000 1234 LUXEMBOURG;2.388,17;EUR;-10,99;EUR
15.01.2024;15.01.2024;Schäfer, Jörg;Gutschrift;Umbuchung;2.399,16;EUR;1.500,00;EUR
'''

PAYPAL_DE = '''"Datum","Uhrzeit","Zeitzone","Name","Typ","Status","Währung","Brutto","Entgelt","Netto",\
"Transaktionscode"
"03.01.2024","09:12:44","Europe/Berlin","Hélène Lefèvre","Website-Zahlung","Abgeschlossen","EUR","49,90","-1,59",\
"48,31","8AB12345CD678901E"
"04.01.2024","21:40:01","Europe/Berlin","Smith, John","Website-Zahlung","Abgeschlossen","USD","1.250,00","-43,10",\
"1.206,90","9XY98765ZW432109V"
"05.01.2024","00:00:07","Europe/Berlin","","Allgemeine Währungsumrechnung","Abgeschlossen","EUR","1.103,27","0,00",\
"1.103,27","1QW22222ER333333T"
'''

STRIPE = '''id,Created date (UTC),Amount,Amount Refunded,Currency,Captured,Fee,Description,Customer Email,Status
ch_3OYabc1,2024-01-05 13:02:11,19.00,0.00,eur,true,0.54,Subscription creation,ann@example.com,Paid
ch_3OYabc2,2024-01-05 14:45:59,1299.5,100.25,usd,true,37.99,"Invoice 2024-0007, ""Pro"" plan",bob@example.org,Refunded
ch_3OYabc3,2024-01-06 00:00:00,7.00,0.00,gbp,false,0.00,,,Failed
'''

REVOLUT = '''Type,Product,Started Date,Completed Date,Description,Amount,Fee,Currency,State,Balance
TOPUP,Current,2024-01-02 08:11:52,2024-01-02 08:11:53,Top-Up by *1234,100.00,0.00,EUR,COMPLETED,100.00
CARD_PAYMENT,Current,2024-01-03 19:24:00,2024-01-05 03:10:44,Café de Flore,-12.80,0.00,EUR,COMPLETED,87.20
EXCHANGE,Current,2024-01-06 10:00:00,2024-01-06 10:00:00,Exchanged to GBP,-50.00,0.25,EUR,COMPLETED,36.95
TRANSFER,Current,2024-01-07 23:59:59,,To Zoë O'Neill,-5,0.00,EUR,PENDING,
'''

N26 = '''"Booking Date","Value Date","Partner Name","Partner Iban",Type,"Payment Reference","Account Name",\
"Amount (EUR)"
2024-01-12,2024-01-12,"Bäckerei, Innere Stadt",,Presentment,,"Main Account",-3.4
2024-01-15,2024-01-15,"Max Mustermann",DE02120300000000202051,"Credit Transfer","Dinner ""Roma"" 🍝","Main Account",27.5
'''

CREDIT_AGRICOLE = '''Téléchargement du 05/02/2024;

Mme DUPRÉ HÉLÈNE;
Compte de Dépôt carte n° 12345678901;
Solde au 05/02/2024 1 234,56 €;

Liste des opérations du compte entre le 01/01/2024 et le 31/01/2024;

Date;Libellé;Débit euros;Crédit euros
31/01/2024;"PRELEVEMENT
EDF clients particuliers";84,20;
29/01/2024;"VIREMENT EN VOTRE FAVEUR
Société Générale";;1 950,00
02/01/2024;"PAIEMENT PAR CARTE
Boulangerie Noël";7,30;
'''

POSTFINANCE = '''Datum von:;01.01.2024
Buchungsart:;Alle Buchungen
Konto:;CH5604835012345678009
Währung:;CHF

Datum;Bewegungstyp;Avisierungstext;Gutschrift in CHF;Lastschrift in CHF;Label;Kategorie
31.01.2024;Belastung;Zürcher Verkehrsverbund;;-1’084.50;;Reisen
30.01.2024;Gutschrift;Lohn Jänner;6’250.00;;;Einkommen
03.01.2024;Belastung;Migros Genève;;-97.05;;Einkäufe
'''

INDIA = '''Txn Date,Value Date,Description,Ref No./Cheque No.,Debit,Credit,Balance
01/01/2024,01/01/2024,BY TRANSFER-NEFT*HDFC0000001*SALARY,TRANSFER FROM 31234567890,,"1,25,000.00","3,47,250.50"
15/01/2024,15/01/2024,TO TRANSFER-UPI/DR/401512345678/KIRANA,,"12,499.00",,"3,34,751.50"
31/01/2024,31/01/2024,CREDIT INTEREST--,,,"1,00,00,000.75","1,03,34,752.25"
'''

CAMT = '''"Auftragskonto";"Buchungstag";"Betrag";"Waehrung";"Saldo nach Buchung";"Name Zahlungsbeteiligter"
"DE02300209000106531065";"13.12.2023";"-1.234.567,89";"EUR";"98.765.432,10";"Großhandel Überlingen KG"
"DE02300209000106531065";"31.12.2023";"0,01";"EUR";"98.765.432,11";"Zinsen"
'''

LEDGER = '''Journal Entry Export
Company: Northwind Trading LLC
Period: January 2024

Date|Account|Account Name|Debit|Credit|Memo
01/15/2024|1000|Cash|1,500.00||Deposit
01/15/2024|4000|Sales||1,500.00|Inv #1001, 1002
01/31/2024|6100|Rent|2,000.00||Jan. rent
01/31/2024|1000|Cash||2,000.00|Check 204

Total|||3,500.00|3,500.00|
'''

MT_LIKE = '''Kontonummer\tBuchungstag\tBetrag\tVerwendungszweck
0012345678\t02.01.2024\t-19,99\tRundfunkbeitrag
0012345678\t03.01.2024\t1 000,00\tÜbertrag
0012345678\t31.01.2024\t-1 234,50\tSteuer "EkSt"
'''


def items() -> list[Item]:
    amount = {"Betrag": ("number", ",")}
    return [
        text("banks/sparkasse-camt-v8.csv", SPARKASSE, newline="\r\n", **DE, sample=True,
             types={**amount}, note="Two-digit years, as the bank writes them."),
        text("banks/sparkasse-camt-utf8.csv", CAMT, delimiter=";", newline="\r\n",
             types={**amount, "Buchungstag": ("date", LONG)}),
        text("banks/dkb-giro.csv", DKB, mark=True, delimiter=";", header=5,
             reading={"headerRow": 5}, note="A line of two quotes is a row with one empty cell, which counts.",
             types={"Betrag (€)": ("number", ",")}),
        text("banks/ing-umsaetze.csv", ING, newline="\r\n", **DE, header=11,
             types={**amount, "Buchung": ("date", LONG)}, note="Two columns of one name; eleven rows above."),
        text("banks/credit-agricole.csv", CREDIT_AGRICOLE, newline="\r\n", header=6, **DE,
             types={"Date": ("date", "%d/%m/%Y")}, note="Line breaks in cells, spaces in numbers."),
        text("banks/postfinance-apostrophes.csv", POSTFINANCE, delimiter=";", mark=True, newline="\r\n", header=5,
             types={"Lastschrift in CHF": ("number", ".")}, note="A typographic apostrophe groups the digits."),
        text("banks/india-lakh-groups.csv", INDIA, types={"Balance": ("number", "."),
             "Value Date": ("date", "%d/%m/%Y")}, note="Groups of two digits."),
        text("banks/ledger-pipes.txt", LEDGER, delimiter="|", header=4,
             note="A total below the table is a row like the others."),
        text("banks/tabs-iso-8859-15.txt", MT_LIKE, encoding="ISO-8859-15", delimiter="\t", quote="",
             reading={"encoding": "iso-8859-15", "quote": ""}, types={**amount}),
        text("banks/n26.csv", N26, types={"Amount (EUR)": ("number", "."), "Booking Date": ("date", "%Y-%m-%d")}),
        text("payments/paypal-de.csv", PAYPAL_DE, mark=True, newline="\r\n",
             types={"Brutto": ("number", ","), "Datum": ("date", LONG)}, options={"dateOrder": "dmy"},
             note="No day is above the 12th, so the order of the dates must be given."),
        text("payments/stripe-charges.csv", STRIPE, types={"Amount": ("number", "."), "Captured": ("boolean", "true")}),
        text("payments/revolut.csv", REVOLUT, types={"Amount": ("number", "."), "Fee": ("number", ".")}),
        text("payments/revolut-crlf-no-end.csv", REVOLUT.rstrip("\n"), newline="\r\n"),
        text("payments/paypal-utf16-tabs.txt", PAYPAL_DE.replace('","', '"\t"'), encoding="UTF-16LE", mark=True,
             newline="\r\n", delimiter="\t", sample=True),
        text("payments/adyen-like-semicolons.csv", REVOLUT.replace(",", ";"), delimiter=";"),
    ]
